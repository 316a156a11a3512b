"""Complex numbers: parts, and tensors made of parts. conj lives with the other copies in assign.py."""
from ..core import dtype as dt
from ..core.op import composite, op
from ..core.tensor import Tensor

_real = op("_real(input)", "real", view=True, node="Real", vjp={"input": lambda g: complex(g, g.new_zeros(g.shape))})
_imag = op("_imag(input)", "imag", view=True, node="Imag", vjp={"input": lambda g: complex(g.new_zeros(g.shape), g)})
view_as_real = op("view_as_real(input)", "view_as_real", view=True, out=False, on="torch",
                  vjp={"input": lambda g: view_as_complex(g.contiguous())},
                  check=lambda input: _need_complex(input, "view_as_real"))
view_as_complex = op("view_as_complex(input)", "view_as_complex", view=True, out=False, on="torch", amp={"cpu": "fp32"},
                     vjp={"input": lambda g: view_as_real(g)})


def _need_complex(input, name):
    if not input.is_complex():
        raise RuntimeError(f"{name} is only supported for complex tensors")


@composite("real(input)", out=False, on="torch")
def real(input):
    """The real part, a view; a real tensor itself."""
    return _real(input) if input.is_complex() else input


@composite("imag(input)", out=False, on="torch")
def imag(input):
    """The imaginary part, a view. Raises RuntimeError for real tensors."""
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(input)


def _parts_rule(name, first, second):
    def rule(infos):
        a, b = infos[0][0], infos[1][0]
        if a not in (dt.float16, dt.float32, dt.float64):
            raise RuntimeError(
                f"Expected both inputs to be Half, Float or Double tensors but got {dt.scalar_name(a)} and "
                f"{dt.scalar_name(b)}"
            )
        if a is not b:
            raise RuntimeError(f"Expected object of scalar type {dt.scalar_name(a)} but got scalar type "
                               f"{dt.scalar_name(b)} for second argument")
        return [None, None]
    return rule


complex = op("complex(real, imag)", "complex", rule=_parts_rule("complex", "real", "imag"), on="torch",
             vjp={"real": lambda g: g.real, "imag": lambda g: g.imag})
polar = op("polar(abs, angle)", "polar", rule=_parts_rule("polar", "abs", "angle"), on="torch", amp={"cpu": "fp32"},
           vjp={"abs": lambda g, angle: (g * complex(angle.cos(), angle.sin()).conj()).real,
                "angle": lambda g, out: (g * (out * 1j).conj()).real})


def _set_real(self, value):
    real(self).copy_(value) if hasattr(value, "_a") else real(self).fill_(value)


def _set_imag(self, value):
    imag(self).copy_(value) if hasattr(value, "_a") else imag(self).fill_(value)


Tensor.real = property(real, _set_real, doc="The real part, a view.")
Tensor.imag = property(imag, _set_imag, doc="The imaginary part, a view.")
