"""Convolutions and their gradients through oneDNN.

Arrays come in plain or channels-last order, while oneDNN is fastest in its own blocked layouts. The batch is
therefore walked in chunks small enough that the blocked copies stay in the second-level cache: reorder a few
images in, convolve, reorder the result out. Measured on AVX-512 at one thread this costs 1-4 % over the bare
convolution, where a reorder of the whole batch before and after it costs 5-15 %.
"""
import numpy as np

from .. import threads
from .lib import (
    BF16,
    CONVOLUTION_DIRECT,
    F16,
    F32,
    FORWARD,
    QUERY_DIFF_DST,
    QUERY_DIFF_SRC,
    QUERY_DIFF_WEIGHTS,
    QUERY_DST,
    QUERY_SRC,
    QUERY_WEIGHTS,
    Dims,
    Unsupported,
    address,
)
from .plan import Cache, Plan, contiguous_strides, strides_of

_DTYPES = {"float32": F32, "bfloat16": BF16, "float16": F16}
_CHUNK = 1 << 20                                  # bytes of images a core converts at a time: the usual L2 size
plans = Cache()


def last_strides(shape):
    """Element strides of a channels-last array of this (channels-first) shape."""
    inner = contiguous_strides((shape[0], *shape[2:], shape[1]))
    return (inner[0], inner[-1], *inner[1:-1])


class _Plan(Plan):
    """One chunk of images. `geometry` is (stride, dilation, padding before, padding after)."""

    def __init__(self, images, weights, result, geometry, dtype, order):
        super().__init__()
        self.dtype, self.order = dtype, order
        self.geometry = [Dims(*numbers) for numbers in geometry]
        self.images, self.weights, self.result = images, weights, result
        self.hint = None

    def inner_layout(self, shape):
        """The layout the convolution works in, by `order`: "any" (oneDNN's choice), "last" or "plain"."""
        strides = {"any": None, "last": last_strides(shape), "plain": contiguous_strides(shape)}[self.order]
        return self.layout(shape, self.dtype, strides)

    def problem(self, kind, *fixed, bias=None, weights_dtype=None):
        """The primitive descriptor of one of the three convolutions over the same three tensors."""
        images, result = self.inner_layout(self.images), self.inner_layout(self.result)
        weights = self.layout(self.weights, weights_dtype or self.dtype)
        tensors = {"forward": (images, weights, bias, result), "backward_data": (images, weights, result),
                   "backward_weights": (images, weights, bias, result)}[kind]
        hint = () if kind == "forward" else (self.hint,)
        return self.descriptor("convolution_" + kind, self.dnnl.engine, *fixed, CONVOLUTION_DIRECT, *tensors,
                               *self.geometry, *hint, self.attributes())

    def bring(self, shape, strides, wanted):
        """(memory for the array, memory the convolution reads, reorder between them or None)."""
        outer_layout = self.layout(shape, self.dtype, strides)
        outer = self.memory(outer_layout)
        if self.dnnl.equal(outer_layout, wanted):
            return outer, outer, None
        inner = self.inner(wanted)[0]
        return outer, inner, self.convert(outer, inner, outer_layout, wanted)

    def take(self, shape, strides, produced):
        """(memory for the array, memory the convolution writes, reorder between them or None)."""
        outer_layout = self.layout(shape, self.dtype, strides)
        outer = self.memory(outer_layout)
        if self.dnnl.equal(outer_layout, produced):
            return outer, outer, None
        inner = self.inner(produced)[0]
        return outer, inner, self.convert(inner, outer, produced, outer_layout)


class _Images(_Plan):
    """Produces images: the convolution itself, or (`backward`) the gradient of its input."""

    def __init__(self, backward, images, image_strides, weights, weight_strides, result, result_strides, has_bias,
                 geometry, dtype, order):
        super().__init__(images, weights, result, geometry, dtype, order)
        layout, self.bias = self.dnnl.layout, None
        bias_layout = self.layout((result[1],), dtype, (1,)) if has_bias else None
        descriptor = self.hint = self.problem("forward", FORWARD, bias=bias_layout)
        queries = [QUERY_SRC, QUERY_WEIGHTS, QUERY_DST]
        if backward:
            descriptor = self.problem("backward_data")
            queries = [QUERY_DIFF_SRC, QUERY_WEIGHTS, QUERY_DIFF_DST]
        wanted_images, wanted_weights, wanted_result = (layout(descriptor, query) for query in queries)
        self.weight, weight, self.weight_step = self.bring(weights, weight_strides, wanted_weights)
        if backward:
            self.source, source, self.source_step = self.bring(result, result_strides, wanted_result)
            self.target, target, self.target_step = self.take(images, image_strides, wanted_images)
            self.main = self.step(descriptor, diff_dst=source, weights=weight, diff_src=target)
        else:
            self.source, source, self.source_step = self.bring(images, image_strides, wanted_images)
            self.target, target, self.target_step = self.take(result, result_strides, wanted_result)
            self.bias = self.memory(bias_layout) if has_bias else None
            self.main = self.step(descriptor, src=source, weights=weight, bias=self.bias, dst=target)

    def run(self, source, source_step, weight, bias, target, target_step, times):
        """Walk `times` chunks; addresses of the first chunk and bytes from one to the next."""
        point, execute = self.dnnl.point, self.execute
        with self.lock:
            self.enter()
            point(self.weight, weight)
            if self.weight_step:
                execute(self.weight_step)
            if self.bias:
                point(self.bias, bias)
            for _ in range(times):
                point(self.source, source)
                point(self.target, target)
                if self.source_step:
                    execute(self.source_step)
                execute(self.main)
                if self.target_step:
                    execute(self.target_step)
                source += source_step
                target += target_step


class _Weights(_Plan):
    """Produces the gradients of weight and bias, summed over chunks in float32 whatever the dtype of the images."""

    def __init__(self, images, image_strides, weights, result, result_strides, has_bias, out_dtype, geometry, dtype,
                 order):
        super().__init__(images, weights, result, geometry, dtype, order)
        layout = self.dnnl.layout
        self.hint = self.problem("forward", FORWARD)
        bias_layout = self.layout((result[1],), F32, (1,)) if has_bias else None
        descriptor = self.problem("backward_weights", bias=bias_layout, weights_dtype=F32)
        self.source, source, self.source_step = self.bring(images, image_strides, layout(descriptor, QUERY_SRC))
        self.other, other, self.other_step = self.bring(result, result_strides, layout(descriptor, QUERY_DIFF_DST))
        summed = layout(descriptor, QUERY_DIFF_WEIGHTS)
        part, self.part_at = self.inner(summed)
        total, self.total_at = self.inner(summed)
        self.part_bytes = self.dnnl.size(summed)
        wanted = self.layout(weights, out_dtype, contiguous_strides(weights))
        self.target = self.memory(wanted)
        self.finish = self.convert(total, self.target, summed, wanted)
        self.bias, self.bias_at = self.inner(bias_layout) if has_bias else (None, 0)
        self.bias_bytes = 4 * result[1]
        self.main = self.step(descriptor, src=source, diff_dst=other, diff_weights=part, diff_bias=self.bias)

    def run(self, source, source_step, other, other_step, target, bias, times):
        """As `_Images.run`; `target` the address for the weight gradient, `bias` a float32 array or None to add to."""
        point, execute = self.dnnl.point, self.execute
        with self.lock:
            room = self.enter()
            part = room[self.part_at:self.part_at + self.part_bytes].view(np.float32)
            total = room[self.total_at:self.total_at + self.part_bytes].view(np.float32)
            bias_part = room[self.bias_at:self.bias_at + self.bias_bytes].view(np.float32)
            for chunk in range(times):
                point(self.source, source)
                point(self.other, other)
                if self.source_step:
                    execute(self.source_step)
                if self.other_step:
                    execute(self.other_step)
                execute(self.main)
                if chunk:
                    np.add(total, part, total)
                else:
                    total[:] = part
                if bias is not None:
                    np.add(bias, bias_part, bias)
                source += source_step
                other += other_step
            point(self.target, target)
            execute(self.finish)


def _build(kind, *key):
    """The plan of a cache key, which ends with the layout to try first and the thread count it is made for."""
    *problem, first, _ = key
    for order in dict.fromkeys((first, "any", "plain", "last")):
        try:
            if kind == "weights":
                return _Weights(*problem, order)
            return _Images(kind == "data", *problem, order)
        except Unsupported as error:
            reason = error
    raise reason


def _is_last(array):
    """Whether an array is channels-last and not also channels-first."""
    return array.ndim > 3 and array.strides[1] == array.itemsize and not array.flags.c_contiguous and \
        array.transpose(0, *range(2, array.ndim), 1).flags.c_contiguous


def _readable(array):
    """(array, element strides), copied when oneDNN cannot walk its strides (expanded or reversed dimensions)."""
    strides = strides_of(array)
    if strides is None:
        array = np.ascontiguousarray(array)
        strides = contiguous_strides(array.shape)
    return array, strides


def _grouped(shape, strides, groups):
    """Shape and strides of a weight with its groups as a dimension of their own."""
    if groups == 1:
        return shape, strides
    each = shape[0] // groups
    return (groups, each, *shape[1:]), strides and (strides[0] * each, *strides)


def _chunk(count, images, result, weights, itemsize, share):
    """How many images to convert at a time; more where weights are large, since each chunk reads them all."""
    workers = threads.get_num_threads()
    room = max(_CHUNK, share * itemsize * int(np.prod(weights))) * workers
    one = itemsize * int(np.prod(images[1:]) + np.prod(result[1:]))
    size = max(room // one, 1)
    return min(-(-size // workers) * workers, count)


def _supported(*arrays):
    """oneDNN's dtype when all arrays (None skipped) share one that it computes in and none is empty, else None."""
    dtype = arrays[0].dtype
    if any(a is not None and (a.dtype != dtype or a.size == 0) for a in arrays) or not 3 <= arrays[0].ndim <= 5:
        return None
    return _DTYPES.get(dtype.name)


def _make_images(backward, array, weight, bias, images, result, geometry, groups):
    """Run `_Images` over a whole batch: `array` is what comes in; returns the new images."""
    dtype = _supported(array, weight, bias)
    if dtype is None:
        return NotImplemented
    threads.ensure()
    array, strides = _readable(array)
    weight, weight_strides = _readable(weight)
    channels_last = _is_last(array) or _is_last(weight)
    shape = images if backward else result
    out = np.empty((shape[0], *shape[2:], shape[1]) if channels_last else shape, array.dtype)
    out_strides = last_strides(shape) if channels_last else contiguous_strides(shape)
    few = images[1] if backward else result[1]
    flat = weight.size == weight.shape[0] * weight.shape[1] and max(geometry[0]) > 1
    # oneDNN's plain kernels win where its channel blocks would be mostly padding, and for strided 1x1 gradients
    order = "last" if channels_last else "plain" if groups == 1 and backward and (few <= 4 or flat) else "any"
    grouped, grouped_strides = _grouped(weight.shape, weight_strides, groups)
    count, size = array.shape[0], array.itemsize
    per = count if channels_last else _chunk(count, images, result, weight.shape, size, 1)
    in_step, out_step = strides[0] * size, out_strides[0] * size
    source, target = address(array), address(out)
    for part, times in ((per, count // per), (count % per, 1)):
        if part:
            pair = ((part, *images[1:]), out_strides if backward else strides)
            other = ((part, *result[1:]), strides if backward else out_strides)
            plan = plans.get(("data" if backward else "forward", *pair, grouped, grouped_strides, *other,
                              bias is not None, geometry, dtype, order, threads.get_num_threads()), _build)
            if plan is None:
                return NotImplemented
            plan.run(source, in_step * part, address(weight), 0 if bias is None else address(bias),
                     target, out_step * part, times)
            source, target = source + in_step * part * times, target + out_step * part * times
    return np.moveaxis(out, -1, 1) if channels_last else out


def _make_weights(array, g, weight_shape, has_bias, geometry, groups):
    """Run `_Weights` over a whole batch; returns (weight gradient, bias gradient or None)."""
    dtype = _supported(array, g)
    if dtype is None or 0 in weight_shape:
        return NotImplemented
    threads.ensure()
    array, strides = _readable(array)
    g, g_strides = _readable(g)
    deep = dtype == F32 and groups == 1 and min(weight_shape[:2]) >= 128
    order = "last" if deep or _is_last(array) and _is_last(g) else "any"
    grouped = _grouped(weight_shape, None, groups)[0]
    count, size = array.shape[0], array.itemsize
    per = _chunk(count, array.shape, g.shape, weight_shape, size, 4)
    source, other, step, g_step = address(array), address(g), strides[0] * size, g_strides[0] * size
    # one plan rounds its own sum to the result's dtype; the sum of two is rounded here
    out_dtype = F32 if count % per else dtype
    total = out = np.empty(weight_shape, np.float32 if count % per else array.dtype)
    bias = np.zeros(g.shape[1], np.float32) if has_bias else None
    for part, times in ((per, count // per), (count % per, 1)):
        if part:
            plan = plans.get(("weights", (part, *array.shape[1:]), strides, grouped, (part, *g.shape[1:]), g_strides,
                              has_bias, out_dtype, geometry, dtype, order, threads.get_num_threads()), _build)
            if plan is None:
                return NotImplemented
            plan.run(source, step * part, other, g_step * part, address(total), bias, times)
            if total is not out:
                out += total
            source, other = source + step * part * times, other + g_step * part * times
            total = np.empty_like(out)
    return out.astype(array.dtype, copy=False), None if bias is None else bias.astype(array.dtype, copy=False)


def _result_shape(images, weight_shape, geometry):
    """Shape of a convolution's result."""
    sizes = [(n + before + after - d * (k - 1) - 1) // s + 1
             for n, k, s, d, before, after in zip(images[2:], weight_shape[2:], geometry[0],
                                                  (d + 1 for d in geometry[1]), geometry[2], geometry[3])]
    return (images[0], weight_shape[0], *sizes)


def _transposed_shape(array_shape, weight_shape, stride, padding, dilation, output_padding, groups):
    """Shape of a transposed convolution's result."""
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + 1 + extra for n, k, s, p, d, extra in
             zip(array_shape[2:], weight_shape[2:], stride, padding, dilation, output_padding)]
    return (array_shape[0], weight_shape[1] * groups, *sizes)


def _geometry(stride, padding, dilation, output_padding):
    """What a plan needs; output padding of a stride or more shortens the padding behind the images."""
    return (tuple(stride), tuple(d - 1 for d in dilation), tuple(padding),
            tuple(p if extra < s else p - extra for p, s, extra in zip(padding, stride, output_padding)))


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """(N, C, *) with (O, C/groups, *) -> (N, O, *); transposed: weight (C, O/groups, *). Declines other dtypes."""
    geometry = _geometry(stride, padding, dilation, output_padding)
    if not transposed:
        result = _result_shape(input.shape, weight.shape, geometry)
        return _make_images(False, input, weight, bias, input.shape, result, geometry, groups)
    images = _transposed_shape(input.shape, weight.shape, stride, padding, dilation, output_padding, groups)
    out = _make_images(True, input, weight, None, images, input.shape, geometry, groups)
    if out is not NotImplemented and bias is not None:
        out += bias.reshape(-1, *[1] * (out.ndim - 2))
    return out


def convolution_backward_input(g, weight, input_shape, stride, padding, dilation, transposed, output_padding, groups):
    """Gradient of `convolution` for its input."""
    geometry = _geometry(stride, padding, dilation, output_padding)
    if transposed:
        return _make_images(False, g, weight, None, g.shape, tuple(input_shape), geometry, groups)
    return _make_images(True, g, weight, None, tuple(input_shape), g.shape, geometry, groups)


def convolution_backward_weight(g, input, weight_shape, has_bias, stride, padding, dilation, transposed,
                                output_padding, groups):
    """(gradient of `convolution` for its weight, gradient for its bias or None)."""
    geometry = _geometry(stride, padding, dilation, output_padding)
    if not transposed:
        return _make_weights(input, g, tuple(weight_shape), has_bias, geometry, groups)
    made = _make_weights(g, input, tuple(weight_shape), False, geometry, groups)
    if made is NotImplemented or not has_bias:
        return made
    total = g.sum(axis=(0, *range(2, g.ndim)), dtype=np.float32)
    return made[0], total.astype(g.dtype)
