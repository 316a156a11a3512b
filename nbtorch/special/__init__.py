"""torch.special: special functions; most are the torch functions under their mathematical names."""
from .. import ops as _ops
from ..ops.bind import public as _public

_NAMES = {name: name for name in (
    "digamma erf erfc erfcx erfinv exp2 expm1 gammainc gammaincc i0 i0e i1 i1e log1p log_ndtr log_softmax logit logsumexp "
    "multigammaln ndtr ndtri entr polygamma round sinc softmax xlog1py xlogy zeta").split()}
_NAMES.update(expit="sigmoid", gammaln="lgamma", psi="digamma")
globals().update({name: getattr(_ops, source) for name, source in _NAMES.items() if hasattr(_ops, source)})
globals().update(_public("special"))
