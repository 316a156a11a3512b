"""One line for each module: name, constructor arguments, and the inputs of a call (shapes, or 'i' for indices)."""

A4 = (2, 4, 5, 6)


def _s(name, args=(), kwargs=None, inputs=((2, 4),), **more):
    return {"name": name, "args": args, "kwargs": kwargs or {}, "inputs": inputs, **more}


LAYERS = [
    _s("Identity", (3,)), _s("Linear", (4, 3)), _s("Linear", (4, 3), {"bias": False}),
    _s("Bilinear", (4, 3, 2), inputs=((2, 4), (2, 3))),
    _s("Conv1d", (4, 6, 3), {"padding": 1}, ((2, 4, 7),)),
    _s("Conv1d", (4, 6, 3), {"padding": "same", "padding_mode": "circular"}, ((2, 4, 7),)),
    _s("Conv2d", (4, 6, 3), {"stride": 2, "groups": 2, "bias": False}, (A4,)),
    _s("Conv2d", (4, 6, (3, 2)), {"padding": (1, 2), "padding_mode": "reflect", "dilation": (1, 2)}, (A4,)),
    _s("Conv2d", (4, 6, 3), {"padding": "same", "padding_mode": "replicate"}, (A4,)),
    _s("Conv3d", (2, 3, 2), {"padding": "valid"}, ((1, 2, 4, 4, 4),)),
    _s("ConvTranspose1d", (4, 6, 3), {"stride": 2}, ((2, 4, 5),)),
    _s("ConvTranspose2d", (4, 6, 3), {"stride": 2, "output_padding": 1, "padding": 1, "groups": 2}, (A4,)),
    _s("ConvTranspose3d", (2, 3, 2), {"dilation": 2}, ((1, 2, 3, 3, 3),)),
    _s("BatchNorm1d", (4,)), _s("BatchNorm1d", (4,), {"bias": False}), _s("BatchNorm2d", (4,), {}, (A4,)),
    _s("BatchNorm2d", (4,), {"momentum": None}, (A4,)), _s("BatchNorm2d", (4,), {"affine": False}, (A4,)),
    _s("BatchNorm3d", (2,), {"track_running_stats": False}, ((2, 2, 3, 3, 3),)), _s("SyncBatchNorm", (4,), {}, None),
    _s("InstanceNorm1d", (4,), {"affine": True}, ((2, 4, 5),)), _s("InstanceNorm2d", (4,), {}, (A4,)),
    _s("InstanceNorm2d", (4,), {"track_running_stats": True}, (A4,)), _s("InstanceNorm2d", (4,), {"eps": 1e-4}, ((4, 5, 6),)),
    _s("InstanceNorm3d", (2,), {}, ((2, 2, 3, 3, 3),)),
    _s("LayerNorm", (4,)), _s("LayerNorm", ([5, 6],), {"bias": False}, (A4,)),
    _s("LayerNorm", (4,), {"elementwise_affine": False}), _s("GroupNorm", (2, 4), {}, (A4,)),
    _s("GroupNorm", (2, 4), {"affine": False}, (A4,)), _s("RMSNorm", (4,)), _s("RMSNorm", ([4],), {"eps": 1e-3}),
    _s("LocalResponseNorm", (2,), {}, (A4,)), _s("CrossMapLRN2d", (3,), {}, (A4,)),
    _s("MaxPool1d", (2,), {}, ((2, 4, 6),)), _s("MaxPool2d", (2,), {"stride": 1, "padding": 1}, (A4,)),
    _s("MaxPool2d", ((2, 3),), {"ceil_mode": True}, (A4,)), _s("MaxPool3d", (2,), {}, ((1, 2, 4, 4, 4),)),
    _s("AvgPool1d", (2,), {}, ((2, 4, 6),)), _s("AvgPool2d", (2,), {"divisor_override": 3}, (A4,)),
    _s("AvgPool3d", (2,), {}, ((1, 2, 4, 4, 4),)), _s("LPPool1d", (2, 2), {}, ((2, 4, 6),)),
    _s("LPPool2d", (2, 2), {}, (A4,)), _s("LPPool3d", (2, 2), {}, None), _s("MaxUnpool2d", (2,), {}, None),
    _s("MaxUnpool1d", (2,), {}, None), _s("MaxUnpool3d", (2,), {}, None),
    _s("FractionalMaxPool2d", (2,), {"output_size": 2}, None), _s("FractionalMaxPool3d", (2,), {"output_ratio": 0.5}, None),
    _s("AdaptiveAvgPool1d", (3,), {}, ((2, 4, 6),)), _s("AdaptiveAvgPool2d", ((3, None),), {}, (A4,)),
    _s("AdaptiveAvgPool3d", (2,), {}, ((1, 2, 4, 4, 4),)), _s("AdaptiveMaxPool1d", (3,), {}, ((2, 4, 6),)),
    _s("AdaptiveMaxPool2d", ((3, 2),), {}, (A4,)), _s("AdaptiveMaxPool3d", (2,), {}, ((1, 2, 4, 4, 4),)),
    _s("Flatten", (), {}, (A4,)), _s("Unflatten", (1, (2, 2)), {}, (A4,)),
    _s("Fold", ((4, 5), (2, 2)), {}, ((3, 8, 12),)), _s("Unfold", ((2, 3),), {"padding": 1}, (A4,)),
    _s("PixelShuffle", (2,), {}, (A4,)), _s("PixelUnshuffle", (2,), {}, ((2, 3, 4, 6),)),
    _s("ChannelShuffle", (2,), {}, (A4,)), _s("CosineSimilarity", (), {}, ((3, 4), (3, 4))),
    _s("PairwiseDistance", (), {}, ((3, 4), (3, 4))), _s("Upsample", (), {"scale_factor": 2}, (A4,)),
    _s("Upsample", (), {"size": (7, 3), "mode": "bilinear", "align_corners": False}, (A4,)),
    _s("UpsamplingNearest2d", (), {"scale_factor": 2}, (A4,)), _s("UpsamplingBilinear2d", ((7, 8),), {}, (A4,)),
    _s("Embedding", (10, 3), {"padding_idx": -1}, ("i",)), _s("Embedding", (10, 3), {"max_norm": 1.0}, ("i",)),
    _s("EmbeddingBag", (10, 3), {"mode": "sum"}, ("i",)), _s("EmbeddingBag", (10, 3), {"padding_idx": 1}, ("i",)),
    _s("Dropout", (0.3,), {}, ((5, 8),)), _s("Dropout1d", (0.3,), {}, ((5, 8, 3),)), _s("Dropout2d", (0.3,), {}, (A4,)),
    _s("Dropout3d", (0.3,), {"inplace": False}, ((2, 4, 2, 2, 2),)), _s("AlphaDropout", (0.3,), {}, ((5, 8),)),
    _s("FeatureAlphaDropout", (0.3,), {}, (A4,)),
    _s("RNN", (4, 3), {"num_layers": 2}, ((5, 2, 4),)), _s("RNN", (4, 3, 1, "relu"), {"batch_first": True}, ((5, 2, 4),)),
    _s("LSTM", (4, 3), {"bidirectional": True}, ((5, 2, 4),)), _s("LSTM", (4, 3), {"proj_size": 2}, ((5, 2, 4),)),
    _s("LSTM", (4, 3), {}, ((5, 4),)), _s("GRU", (4, 3), {"num_layers": 2, "bias": False}, ((5, 2, 4),)),
    _s("RNNCell", (4, 3)), _s("RNNCell", (4, 3), {"nonlinearity": "relu"}), _s("LSTMCell", (4, 3)),
    _s("LSTMCell", (4, 3), {"bias": False}, ((4,),)), _s("GRUCell", (4, 3)),
    _s("MultiheadAttention", (8, 2), {}, ((5, 2, 8),) * 3), _s("MultiheadAttention", (8, 2), {"batch_first": True,
       "add_bias_kv": True, "add_zero_attn": True}, ((5, 2, 8),) * 3),
    _s("MultiheadAttention", (8, 2), {"kdim": 3, "vdim": 5, "bias": False}, ((5, 2, 8), (4, 2, 3), (4, 2, 5))),
    _s("TransformerEncoderLayer", (8, 2, 16), {"dropout": 0.0, "batch_first": True}, ((2, 5, 8),)),
    _s("TransformerEncoderLayer", (8, 2, 16), {"dropout": 0.0, "norm_first": True, "activation": "gelu"}, ((5, 2, 8),)),
    _s("TransformerDecoderLayer", (8, 2, 16), {"dropout": 0.0}, ((5, 2, 8), (4, 2, 8))),
    _s("Transformer", (8, 2, 1, 2, 16), {"dropout": 0.0, "batch_first": True}, ((2, 5, 8), (2, 4, 8))),
    _s("AdaptiveLogSoftmaxWithLoss", (8, 10, [3, 6]), {}, None),
]

ACTIVATIONS = [
    _s(name) for name in ("ReLU ReLU6 Sigmoid Hardsigmoid Tanh SiLU Mish Hardswish ELU CELU SELU GELU Hardshrink "
                          "LeakyReLU LogSigmoid Softplus Softshrink Softsign Tanhshrink GLU RReLU PReLU").split()
] + [
    _s("ReLU", (True,), inputs=None), _s("ELU", (0.5, True), inputs=None), _s("Threshold", (0.1, 20)),
    _s("Hardtanh", (-0.5, 0.5)), _s("Softmax", (1,)), _s("Softmin", (1,)), _s("LogSoftmax", (1,)),
    _s("Softmax2d", (), {}, (A4,)), _s("GELU", (), {"approximate": "tanh"}), _s("PReLU", (4,)),
    _s("LeakyReLU", (0.2, True), inputs=None), _s("RReLU", (0.1, 0.3, True), inputs=None), _s("GLU", (0,)),
]

LOSSES = [
    _s("L1Loss"), _s("MSELoss", (), {"reduction": "sum"}), _s("SmoothL1Loss", (), {"beta": 0.5}), _s("HuberLoss"),
    _s("SoftMarginLoss", target="sign"), _s("HingeEmbeddingLoss", target="sign"), _s("KLDivLoss", (), {"reduction": "batchmean"}),
    _s("PoissonNLLLoss"), _s("BCEWithLogitsLoss", target="unit"), _s("CrossEntropyLoss", target="class"),
    _s("CrossEntropyLoss", (), {"label_smoothing": 0.1}, target="class"), _s("NLLLoss", target="class"),
    _s("MultiMarginLoss", target="class"), _s("MultiLabelSoftMarginLoss", target="unit"),
]

CONTAINERS = [_s("ModuleList"), _s("ModuleDict"), _s("Sequential"), _s("ParameterList"), _s("ParameterDict")]
