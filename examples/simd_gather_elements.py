"""The example of Simd's SynetGatherElements page, then the same indices set once and used for many inputs."""

import numpy as np

from remapnd.simd import (
    SimdFalse,
    SimdTensorData32f,
    SimdTensorData32i,
    SimdTrue,
    SynetGatherElements,
)

src = np.arange(8, dtype=np.float32)
idx = np.array([0, 2, 1, 3, 1, 0], dtype=np.int32)
dst = np.empty(6, dtype=np.float32)

gather = SynetGatherElements()
gather.Init(SimdTensorData32f, SimdTensorData32i, SimdFalse, 1, outer=(2,), srcCount=4, inner=1, idxCount=3)
if gather.Enable():
    gather.Forward(src, idx, dst)
print("idx given to Forward:", dst)

# Constant indices that are the same for both rows of `outer`: one row of them is held.
gather.Init(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, outer=(2,), srcCount=4, inner=1, idxCount=3)
gather.SetIndex(np.array([[3, -4, 1], [3, -4, 1]], dtype=np.int32))
print(gather.explain())
print("bytes held:", gather.InternalBufferSize())
for scale in (1, 10):
    print("constant idx:", gather.Forward(src * scale)[..., 0].tolist())
