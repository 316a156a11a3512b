"""The tensor: an array over a storage, plus its place in the autograd graph. Methods that are ops are bound from the
table (ops/bind.py); what stands here needs no kernel."""
import warnings
import weakref

from ..backend import arrays
from ..events.bus import bus, emit
from ..events.records import Tag
from . import arguments, engine, graph, run, views
from .device import Size, strided
from .dtype import DTYPES
from .storage import AliasStorage

new = object.__new__


class TensorMeta(type):
    """Lets isinstance(x, Parameter) hold for tensors that carry the mark."""


class Tensor(metaclass=TensorMeta):
    """A multi-dimensional array of one dtype with automatic differentiation.

    https://docs.pytorch.org/docs/stable/tensors.html
    """

    # Fields most tensors never set live on the class, so that making a tensor sets three attributes only.
    _fn = _grad = _view = _acc = _post_hooks = _hooks = _retain = None
    _rg = False
    _nr = 0
    _name = None
    __array_priority__ = 1000
    layout = strided
    is_sparse = is_quantized = is_mkldnn = is_meta = is_nested = is_vulkan = is_xpu = is_sparse_csr = False

    def __new__(cls, *args, **kwargs):
        from . import interop
        return interop.legacy_tensor(cls, args, kwargs)

    @staticmethod
    def _wrap(array):
        """A tensor that takes over `array`."""
        return arguments.wrap(array)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False):
        """A tensor of class `cls` over the memory of `data`, detached from its history."""
        t = views.fresh(data._a, data._s, data._key, cls)
        if require_grad:
            t.requires_grad_(True)
        return t

    # -- facts

    @property
    def shape(self):
        """The size of each dimension, a torch.Size."""
        return Size(self._a.shape)

    @property
    def dtype(self):
        """The torch.dtype."""
        return DTYPES[self._key >> 1 & 31]

    @property
    def device(self):
        """The torch.device the memory is on."""
        return self._s.device

    @property
    def ndim(self):
        return self._a.ndim

    @property
    def itemsize(self):
        return self._a.itemsize

    @property
    def nbytes(self):
        """numel() * element_size()."""
        return self._a.nbytes

    @property
    def is_cuda(self):
        return self._s.device.type == "cuda"

    @property
    def is_cpu(self):
        return self._s.device.type == "cpu"

    def size(self, dim=None):
        """The shape, or the size of one dimension. Raises IndexError for a dimension out of range."""
        return Size(self._a.shape) if dim is None else self._a.shape[dim_index(dim, self._a.ndim)]

    def dim(self):
        """Number of dimensions."""
        return self._a.ndim

    ndimension = dim

    def numel(self):
        """Number of elements."""
        return self._a.size

    nelement = numel

    def element_size(self):
        """Bytes of one element."""
        return self._a.itemsize

    def stride(self, dim=None):
        """Steps in elements between neighbours of each dimension."""
        size = self._a.itemsize
        strides = tuple(s // size for s in self._a.strides)
        if self._a.size == 0 or 1 in self._a.shape:
            strides = arrays.canonical_strides(self._a.shape, strides)
        return strides if dim is None else strides[dim_index(dim, self._a.ndim)]

    def storage_offset(self):
        """Position of the first element in the storage, in elements."""
        return arrays.offset_of(self._a)

    def data_ptr(self):
        """Address of the first element."""
        return self._a.__array_interface__["data"][0] if self._a.size else 0

    def is_contiguous(self, memory_format=None):
        """Whether elements lie in memory in the order of the dimensions (or of the given memory format)."""
        if memory_format is None or memory_format.name in ("contiguous_format", "preserve_format"):
            return arrays.is_contiguous(self._a)
        return arrays.is_contiguous(self._a.transpose(arrays.channels_order(memory_format, self._a.ndim)))

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_complex(self):
        return self.dtype.is_complex

    def is_signed(self):
        return self.dtype.is_signed

    def is_conj(self):
        return False

    def is_neg(self):
        return False

    def is_inference(self):
        return False

    def get_device(self):
        """The CUDA device index, -1 on the CPU."""
        return -1 if self._s.device.type == "cpu" else self._s.device.index

    # -- autograd

    @property
    def requires_grad(self):
        """Whether gradients flow to or through this tensor."""
        if self._rg or self._fn is not None:
            return True
        return self._view is not None and self._view.base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Change whether autograd records operations on this leaf. Raises RuntimeError for non-leaves and integers."""
        if not requires_grad and self._fn is not None:
            raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want to use a "
                               "computed variable in a subgraph that doesn't require differentiation use "
                               "var_no_grad = var.detach().")
        if requires_grad and self._fn is None and self.dtype.category < 2:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        if self._fn is None:
            self._rg = bool(requires_grad)
        return self

    @property
    def is_leaf(self):
        """True for tensors no recorded operation made."""
        if self._view is not None and self._view.creation not in views.WHY:
            views.refresh(self)
        return self._fn is None

    @property
    def grad_fn(self):
        """The node that computes this tensor's gradient contribution, None for leaves."""
        if self._view is not None:
            views.refresh(self)
        return self._fn

    @property
    def output_nr(self):
        return self._nr

    @property
    def grad(self):
        """The accumulated gradient, or None."""
        if self._grad is None and self._fn is not None and not self._retain:
            warnings.warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
                          "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
                          "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If "
                          "you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead.",
                          UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value):
        if value is not None:
            views.check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def _version(self):
        return self._s.version

    @property
    def _base(self):
        return self._view.base if self._view is not None else None

    def _is_view(self):
        return self._view is not None

    @property
    def data(self):
        """The same memory without history; writes to it are not seen by autograd."""
        return views.fresh(self._a, AliasStorage(self._s), self._key, Tensor)

    @data.setter
    def data(self, other):
        views.set_data(self, other)

    def detach(self):
        """A tensor over the same memory without history. Writes are seen by version checks.

        https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html
        """
        t = new(Tensor)
        t._a, t._s, t._key = self._a, self._s, self._key
        return t

    def detach_(self):
        """Forget this tensor's history in place."""
        if self._view is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self._fn, self._rg, self._nr = None, False, 0
        return self

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Accumulate gradients of this tensor into the leaves it came from.

        https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
        """
        engine.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self, *, again=False):
        """Fill `.grad` during backward although this is no leaf. `again`: a write gave this tensor a new grad_fn."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if again:
            self._retain.remove()
        elif self.grad_fn is None or self._retain:
            return
        me, number = weakref.ref(self), self._nr

        def keep(grads):
            t = me()
            if t is not None and grads[number] is not None:
                g = grads[number].clone()         # others go on with this one
                t._grad = g if t._grad is None else t._grad + g
        self._retain = self._fn.register_prehook(keep)
        self._fn.retaining += (self._retain.id,)

    @property
    def retains_grad(self):
        """Whether retain_grad() was called on this non-leaf."""
        return bool(self._retain)

    def register_hook(self, hook):
        """`hook(grad)` when the gradient arrives here; may return a new gradient. Returns a removable handle."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node, number = engine.edge_of(self)
        if self._fn is None and self._hooks is None:
            self._hooks = node.prehooks = node.prehooks or {}     # the leaf keeps them for its next accumulator

        def prehook(grads):
            g = grads[number]
            changed = hook(g) if g is not None else None
            if changed is not None:
                return (*grads[:number], changed, *grads[number + 1:])
        prehook.__name__ = engine.name_of(hook)
        return node.register_prehook(prehook)

    def register_post_accumulate_grad_hook(self, hook):
        """`hook(tensor)` after `.grad` was accumulated on this leaf. Returns a removable handle."""
        if self._fn is not None or not self._rg:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        self._post_hooks = {} if self._post_hooks is None else self._post_hooks
        return graph.Handle(self._post_hooks, hook)

    # -- Python protocol

    def __len__(self):
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._a.shape[0]

    def __hash__(self):
        return id(self)

    def __bool__(self):
        if self._a.size != 1:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous" if self._a.size == 0 else
                               "Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._a.reshape(())[()])

    def item(self):
        """The one element as a Python number. Raises RuntimeError for other sizes."""
        if self._a.size != 1:
            raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        value = self._a.reshape(()).item()
        return value if type(value) in arguments.NUMBER_KEYS else float(value)

    def tolist(self):
        """Nested lists of Python numbers; a number for a 0-d tensor."""
        a = self._a
        return a.astype("float32").tolist() if self.dtype.name == "bfloat16" else a.tolist()

    def __int__(self):
        return int(self._single())

    def __float__(self):
        return float(self._single())

    def __complex__(self):
        return complex(self._single())

    def _single(self):
        if self._a.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __index__(self):
        if self._a.size != 1 or self.dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __iter__(self):
        if self._a.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element):
        if isinstance(element, (Tensor, int, float, complex, bool)):
            return bool((self == element).any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    def __repr__(self, *, tensor_contents=None):
        from .tensor_str import tensor_text
        return tensor_text(self)

    def __format__(self, spec):
        if self._a.ndim == 0 and not self._rg and self._fn is None and type(self) is Tensor:
            return format(self.item(), spec)
        if self._a.size == 1 and spec:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __dir__(self):
        return sorted(set(dir(type(self))) | set(self.__dict__))

    def _tag(self, category):
        """Tell the memory views what this memory is for."""
        if bus.subscribers:
            emit(Tag(self._s, category))


def dim_index(dim, ndim):
    """A non-negative dimension. Raises IndexError with PyTorch's text."""
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


graph.T = arguments.T = run.T = Tensor
