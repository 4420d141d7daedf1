// Structs of directml.h with their layouts checked, for C99 and C++11, where directml.h is not at hand.

#pragma once

#include <stddef.h>
#include <stdint.h>
#if defined(__cplusplus)
#define REMAPND_ASSERT(condition, text) static_assert(condition, text)
#define REMAPND_ALIGN8 alignas(8)
#elif __STDC_VERSION__ >= 201112L
#define REMAPND_ASSERT(condition, text) _Static_assert(condition, text)
#define REMAPND_ALIGN8 _Alignas(8)
#else
#define REMAPND_ASSERT(condition, text) extern int remapnd_assertion[(condition) ? 1 : -1]
#ifdef __GNUC__
#define REMAPND_ALIGN8 __attribute__((aligned(8)))
#else
#define REMAPND_ALIGN8
#endif
#endif
#define REMAPND_SIZE(type, x64, x86) \
    REMAPND_ASSERT(sizeof(type) == (sizeof(void *) == 8 ? x64 : x86), "size of " #type)
#define REMAPND_OFFSET(type, field, x64, x86) \
    REMAPND_ASSERT(offsetof(type, field) == (sizeof(void *) == 8 ? x64 : x86), "offset of " #type "." #field)

typedef enum DML_OPERATOR_TYPE {
    DML_OPERATOR_UPSAMPLE_2D = 66,
    DML_OPERATOR_GATHER = 67,
    DML_OPERATOR_SCATTER_ELEMENTS = 94,
    DML_OPERATOR_SCATTER = 94,
    DML_OPERATOR_RESAMPLE = 96,
    DML_OPERATOR_GATHER_ELEMENTS = 107,
    DML_OPERATOR_GATHER_ND = 108,
    DML_OPERATOR_SCATTER_ND = 109,
    DML_OPERATOR_RESAMPLE1 = 116,
    DML_OPERATOR_RESAMPLE_GRAD = 134,
    DML_OPERATOR_GATHER_ND1 = 140,
    DML_OPERATOR_RESAMPLE2 = 161,
    DML_OPERATOR_RESAMPLE_GRAD1 = 162,
    DML_OPERATOR_RESAMPLE3 = 175,
} DML_OPERATOR_TYPE;

typedef enum DML_TENSOR_TYPE {
    DML_TENSOR_TYPE_INVALID = 0,
    DML_TENSOR_TYPE_BUFFER = 1,
} DML_TENSOR_TYPE;

typedef enum DML_TENSOR_DATA_TYPE {
    DML_TENSOR_DATA_TYPE_UNKNOWN = 0,
    DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
    DML_TENSOR_DATA_TYPE_FLOAT16 = 2,
    DML_TENSOR_DATA_TYPE_UINT32 = 3,
    DML_TENSOR_DATA_TYPE_UINT16 = 4,
    DML_TENSOR_DATA_TYPE_UINT8 = 5,
    DML_TENSOR_DATA_TYPE_INT32 = 6,
    DML_TENSOR_DATA_TYPE_INT16 = 7,
    DML_TENSOR_DATA_TYPE_INT8 = 8,
    DML_TENSOR_DATA_TYPE_FLOAT64 = 9,
    DML_TENSOR_DATA_TYPE_UINT64 = 10,
    DML_TENSOR_DATA_TYPE_INT64 = 11,
    DML_TENSOR_DATA_TYPE_UINT4 = 12,
    DML_TENSOR_DATA_TYPE_INT4 = 13,
} DML_TENSOR_DATA_TYPE;

typedef enum DML_TENSOR_FLAGS {
    DML_TENSOR_FLAG_NONE = 0,
    DML_TENSOR_FLAG_OWNED_BY_DML = 1,
} DML_TENSOR_FLAGS;

typedef enum DML_INTERPOLATION_MODE {
    DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR = 0,
    DML_INTERPOLATION_MODE_LINEAR = 1,
} DML_INTERPOLATION_MODE;

typedef enum DML_AXIS_DIRECTION {
    DML_AXIS_DIRECTION_INCREASING = 0,
    DML_AXIS_DIRECTION_DECREASING = 1,
} DML_AXIS_DIRECTION;

typedef struct ID3D12Resource ID3D12Resource;

// DML_SIZE_2D: 8 bytes on x64, 8 on x86
typedef struct DML_SIZE_2D {
    uint32_t Width;   // +0/+0  UINT
    uint32_t Height;  // +4/+4  UINT
} DML_SIZE_2D;
REMAPND_SIZE(DML_SIZE_2D, 8, 8);
REMAPND_OFFSET(DML_SIZE_2D, Width, 0, 0);
REMAPND_OFFSET(DML_SIZE_2D, Height, 4, 4);

// DML_SCALE_BIAS: 8 bytes on x64, 8 on x86
typedef struct DML_SCALE_BIAS {
    float Scale;  // +0/+0  FLOAT
    float Bias;   // +4/+4  FLOAT
} DML_SCALE_BIAS;
REMAPND_SIZE(DML_SCALE_BIAS, 8, 8);
REMAPND_OFFSET(DML_SCALE_BIAS, Scale, 0, 0);
REMAPND_OFFSET(DML_SCALE_BIAS, Bias, 4, 4);

// DML_BUFFER_TENSOR_DESC: 48 bytes on x64, 40 on x86
// on x86 a UINT64 is aligned to 8 bytes, as compilers for Windows do
typedef struct DML_BUFFER_TENSOR_DESC {
    DML_TENSOR_DATA_TYPE DataType;                   // +0/+0  DML_TENSOR_DATA_TYPE
    DML_TENSOR_FLAGS Flags;                          // +4/+4  DML_TENSOR_FLAGS
    uint32_t DimensionCount;                         // +8/+8  UINT
    const uint32_t *Sizes;                           // +16/+12  const UINT *
    const uint32_t *Strides;                         // +24/+16  const UINT *
    REMAPND_ALIGN8 uint64_t TotalTensorSizeInBytes;  // +32/+24  UINT64
    uint32_t GuaranteedBaseOffsetAlignment;          // +40/+32  UINT
} DML_BUFFER_TENSOR_DESC;
REMAPND_SIZE(DML_BUFFER_TENSOR_DESC, 48, 40);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, DataType, 0, 0);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, Flags, 4, 4);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, DimensionCount, 8, 8);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, Sizes, 16, 12);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, Strides, 24, 16);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes, 32, 24);
REMAPND_OFFSET(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment, 40, 32);

// DML_TENSOR_DESC: 16 bytes on x64, 8 on x86
typedef struct DML_TENSOR_DESC {
    DML_TENSOR_TYPE Type;  // +0/+0  DML_TENSOR_TYPE
    const void *Desc;      // +8/+4  const void *
} DML_TENSOR_DESC;
REMAPND_SIZE(DML_TENSOR_DESC, 16, 8);
REMAPND_OFFSET(DML_TENSOR_DESC, Type, 0, 0);
REMAPND_OFFSET(DML_TENSOR_DESC, Desc, 8, 4);

// DML_UPSAMPLE_2D_OPERATOR_DESC: 32 bytes on x64, 20 on x86
typedef struct DML_UPSAMPLE_2D_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;        // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;       // +8/+4  const DML_TENSOR_DESC *
    DML_SIZE_2D ScaleSize;                     // +16/+8  DML_SIZE_2D
    DML_INTERPOLATION_MODE InterpolationMode;  // +24/+16  DML_INTERPOLATION_MODE
} DML_UPSAMPLE_2D_OPERATOR_DESC;
REMAPND_SIZE(DML_UPSAMPLE_2D_OPERATOR_DESC, 32, 20);
REMAPND_OFFSET(DML_UPSAMPLE_2D_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_UPSAMPLE_2D_OPERATOR_DESC, OutputTensor, 8, 4);
REMAPND_OFFSET(DML_UPSAMPLE_2D_OPERATOR_DESC, ScaleSize, 16, 8);
REMAPND_OFFSET(DML_UPSAMPLE_2D_OPERATOR_DESC, InterpolationMode, 24, 16);

// DML_GATHER_OPERATOR_DESC: 32 bytes on x64, 20 on x86
typedef struct DML_GATHER_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +16/+8  const DML_TENSOR_DESC *
    uint32_t Axis;                         // +24/+12  UINT
    uint32_t IndexDimensions;              // +28/+16  UINT
} DML_GATHER_OPERATOR_DESC;
REMAPND_SIZE(DML_GATHER_OPERATOR_DESC, 32, 20);
REMAPND_OFFSET(DML_GATHER_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_GATHER_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_GATHER_OPERATOR_DESC, OutputTensor, 16, 8);
REMAPND_OFFSET(DML_GATHER_OPERATOR_DESC, Axis, 24, 12);
REMAPND_OFFSET(DML_GATHER_OPERATOR_DESC, IndexDimensions, 28, 16);

// DML_SCATTER_ELEMENTS_OPERATOR_DESC: 40 bytes on x64, 20 on x86
typedef struct DML_SCATTER_ELEMENTS_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *UpdatesTensor;  // +16/+8  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +24/+12  const DML_TENSOR_DESC *
    uint32_t Axis;                         // +32/+16  UINT
} DML_SCATTER_ELEMENTS_OPERATOR_DESC;
REMAPND_SIZE(DML_SCATTER_ELEMENTS_OPERATOR_DESC, 40, 20);
REMAPND_OFFSET(DML_SCATTER_ELEMENTS_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_SCATTER_ELEMENTS_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_SCATTER_ELEMENTS_OPERATOR_DESC, UpdatesTensor, 16, 8);
REMAPND_OFFSET(DML_SCATTER_ELEMENTS_OPERATOR_DESC, OutputTensor, 24, 12);
REMAPND_OFFSET(DML_SCATTER_ELEMENTS_OPERATOR_DESC, Axis, 32, 16);

// DML_SCATTER_OPERATOR_DESC: 40 bytes on x64, 20 on x86
typedef struct DML_SCATTER_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *UpdatesTensor;  // +16/+8  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +24/+12  const DML_TENSOR_DESC *
    uint32_t Axis;                         // +32/+16  UINT
} DML_SCATTER_OPERATOR_DESC;
REMAPND_SIZE(DML_SCATTER_OPERATOR_DESC, 40, 20);
REMAPND_OFFSET(DML_SCATTER_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_SCATTER_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_SCATTER_OPERATOR_DESC, UpdatesTensor, 16, 8);
REMAPND_OFFSET(DML_SCATTER_OPERATOR_DESC, OutputTensor, 24, 12);
REMAPND_OFFSET(DML_SCATTER_OPERATOR_DESC, Axis, 32, 16);

// DML_RESAMPLE_OPERATOR_DESC: 32 bytes on x64, 20 on x86
typedef struct DML_RESAMPLE_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;        // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;       // +8/+4  const DML_TENSOR_DESC *
    DML_INTERPOLATION_MODE InterpolationMode;  // +16/+8  DML_INTERPOLATION_MODE
    uint32_t ScaleCount;                       // +20/+12  UINT
    const float *Scales;                       // +24/+16  const FLOAT *
} DML_RESAMPLE_OPERATOR_DESC;
REMAPND_SIZE(DML_RESAMPLE_OPERATOR_DESC, 32, 20);
REMAPND_OFFSET(DML_RESAMPLE_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_RESAMPLE_OPERATOR_DESC, OutputTensor, 8, 4);
REMAPND_OFFSET(DML_RESAMPLE_OPERATOR_DESC, InterpolationMode, 16, 8);
REMAPND_OFFSET(DML_RESAMPLE_OPERATOR_DESC, ScaleCount, 20, 12);
REMAPND_OFFSET(DML_RESAMPLE_OPERATOR_DESC, Scales, 24, 16);

// DML_GATHER_ELEMENTS_OPERATOR_DESC: 32 bytes on x64, 16 on x86
typedef struct DML_GATHER_ELEMENTS_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +16/+8  const DML_TENSOR_DESC *
    uint32_t Axis;                         // +24/+12  UINT
} DML_GATHER_ELEMENTS_OPERATOR_DESC;
REMAPND_SIZE(DML_GATHER_ELEMENTS_OPERATOR_DESC, 32, 16);
REMAPND_OFFSET(DML_GATHER_ELEMENTS_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_GATHER_ELEMENTS_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_GATHER_ELEMENTS_OPERATOR_DESC, OutputTensor, 16, 8);
REMAPND_OFFSET(DML_GATHER_ELEMENTS_OPERATOR_DESC, Axis, 24, 12);

// DML_GATHER_ND_OPERATOR_DESC: 32 bytes on x64, 20 on x86
typedef struct DML_GATHER_ND_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +16/+8  const DML_TENSOR_DESC *
    uint32_t InputDimensionCount;          // +24/+12  UINT
    uint32_t IndicesDimensionCount;        // +28/+16  UINT
} DML_GATHER_ND_OPERATOR_DESC;
REMAPND_SIZE(DML_GATHER_ND_OPERATOR_DESC, 32, 20);
REMAPND_OFFSET(DML_GATHER_ND_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_GATHER_ND_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_GATHER_ND_OPERATOR_DESC, OutputTensor, 16, 8);
REMAPND_OFFSET(DML_GATHER_ND_OPERATOR_DESC, InputDimensionCount, 24, 12);
REMAPND_OFFSET(DML_GATHER_ND_OPERATOR_DESC, IndicesDimensionCount, 28, 16);

// DML_SCATTER_ND_OPERATOR_DESC: 40 bytes on x64, 24 on x86
typedef struct DML_SCATTER_ND_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *UpdatesTensor;  // +16/+8  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +24/+12  const DML_TENSOR_DESC *
    uint32_t InputDimensionCount;          // +32/+16  UINT
    uint32_t IndicesDimensionCount;        // +36/+20  UINT
} DML_SCATTER_ND_OPERATOR_DESC;
REMAPND_SIZE(DML_SCATTER_ND_OPERATOR_DESC, 40, 24);
REMAPND_OFFSET(DML_SCATTER_ND_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_SCATTER_ND_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_SCATTER_ND_OPERATOR_DESC, UpdatesTensor, 16, 8);
REMAPND_OFFSET(DML_SCATTER_ND_OPERATOR_DESC, OutputTensor, 24, 12);
REMAPND_OFFSET(DML_SCATTER_ND_OPERATOR_DESC, InputDimensionCount, 32, 16);
REMAPND_OFFSET(DML_SCATTER_ND_OPERATOR_DESC, IndicesDimensionCount, 36, 20);

// DML_RESAMPLE1_OPERATOR_DESC: 48 bytes on x64, 28 on x86
typedef struct DML_RESAMPLE1_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;        // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;       // +8/+4  const DML_TENSOR_DESC *
    DML_INTERPOLATION_MODE InterpolationMode;  // +16/+8  DML_INTERPOLATION_MODE
    uint32_t DimensionCount;                   // +20/+12  UINT
    const float *Scales;                       // +24/+16  const FLOAT *
    const float *InputPixelOffsets;            // +32/+20  const FLOAT *
    const float *OutputPixelOffsets;           // +40/+24  const FLOAT *
} DML_RESAMPLE1_OPERATOR_DESC;
REMAPND_SIZE(DML_RESAMPLE1_OPERATOR_DESC, 48, 28);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, OutputTensor, 8, 4);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, InterpolationMode, 16, 8);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, DimensionCount, 20, 12);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, Scales, 24, 16);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, InputPixelOffsets, 32, 20);
REMAPND_OFFSET(DML_RESAMPLE1_OPERATOR_DESC, OutputPixelOffsets, 40, 24);

// DML_RESAMPLE_GRAD_OPERATOR_DESC: 48 bytes on x64, 28 on x86
typedef struct DML_RESAMPLE_GRAD_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputGradientTensor;   // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputGradientTensor;  // +8/+4  const DML_TENSOR_DESC *
    DML_INTERPOLATION_MODE InterpolationMode;     // +16/+8  DML_INTERPOLATION_MODE
    uint32_t DimensionCount;                      // +20/+12  UINT
    const float *Scales;                          // +24/+16  const FLOAT *
    const float *InputPixelOffsets;               // +32/+20  const FLOAT *
    const float *OutputPixelOffsets;              // +40/+24  const FLOAT *
} DML_RESAMPLE_GRAD_OPERATOR_DESC;
REMAPND_SIZE(DML_RESAMPLE_GRAD_OPERATOR_DESC, 48, 28);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, InputGradientTensor, 0, 0);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, OutputGradientTensor, 8, 4);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, InterpolationMode, 16, 8);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, DimensionCount, 20, 12);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, Scales, 24, 16);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, InputPixelOffsets, 32, 20);
REMAPND_OFFSET(DML_RESAMPLE_GRAD_OPERATOR_DESC, OutputPixelOffsets, 40, 24);

// DML_GATHER_ND1_OPERATOR_DESC: 40 bytes on x64, 24 on x86
typedef struct DML_GATHER_ND1_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;    // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *IndicesTensor;  // +8/+4  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;   // +16/+8  const DML_TENSOR_DESC *
    uint32_t InputDimensionCount;          // +24/+12  UINT
    uint32_t IndicesDimensionCount;        // +28/+16  UINT
    uint32_t BatchDimensionCount;          // +32/+20  UINT
} DML_GATHER_ND1_OPERATOR_DESC;
REMAPND_SIZE(DML_GATHER_ND1_OPERATOR_DESC, 40, 24);
REMAPND_OFFSET(DML_GATHER_ND1_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_GATHER_ND1_OPERATOR_DESC, IndicesTensor, 8, 4);
REMAPND_OFFSET(DML_GATHER_ND1_OPERATOR_DESC, OutputTensor, 16, 8);
REMAPND_OFFSET(DML_GATHER_ND1_OPERATOR_DESC, InputDimensionCount, 24, 12);
REMAPND_OFFSET(DML_GATHER_ND1_OPERATOR_DESC, IndicesDimensionCount, 28, 16);
REMAPND_OFFSET(DML_GATHER_ND1_OPERATOR_DESC, BatchDimensionCount, 32, 20);

// DML_RESAMPLE2_OPERATOR_DESC: 56 bytes on x64, 32 on x86
typedef struct DML_RESAMPLE2_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;        // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;       // +8/+4  const DML_TENSOR_DESC *
    DML_INTERPOLATION_MODE InterpolationMode;  // +16/+8  DML_INTERPOLATION_MODE
    DML_AXIS_DIRECTION RoundingDirection;      // +20/+12  DML_AXIS_DIRECTION
    uint32_t DimensionCount;                   // +24/+16  UINT
    const float *Scales;                       // +32/+20  const FLOAT *
    const float *InputPixelOffsets;            // +40/+24  const FLOAT *
    const float *OutputPixelOffsets;           // +48/+28  const FLOAT *
} DML_RESAMPLE2_OPERATOR_DESC;
REMAPND_SIZE(DML_RESAMPLE2_OPERATOR_DESC, 56, 32);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, OutputTensor, 8, 4);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, InterpolationMode, 16, 8);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, RoundingDirection, 20, 12);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, DimensionCount, 24, 16);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, Scales, 32, 20);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, InputPixelOffsets, 40, 24);
REMAPND_OFFSET(DML_RESAMPLE2_OPERATOR_DESC, OutputPixelOffsets, 48, 28);

// DML_RESAMPLE_GRAD1_OPERATOR_DESC: 56 bytes on x64, 32 on x86
typedef struct DML_RESAMPLE_GRAD1_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputGradientTensor;   // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputGradientTensor;  // +8/+4  const DML_TENSOR_DESC *
    DML_INTERPOLATION_MODE InterpolationMode;     // +16/+8  DML_INTERPOLATION_MODE
    DML_AXIS_DIRECTION RoundingDirection;         // +20/+12  DML_AXIS_DIRECTION
    uint32_t DimensionCount;                      // +24/+16  UINT
    const float *Scales;                          // +32/+20  const FLOAT *
    const float *InputPixelOffsets;               // +40/+24  const FLOAT *
    const float *OutputPixelOffsets;              // +48/+28  const FLOAT *
} DML_RESAMPLE_GRAD1_OPERATOR_DESC;
REMAPND_SIZE(DML_RESAMPLE_GRAD1_OPERATOR_DESC, 56, 32);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, InputGradientTensor, 0, 0);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, OutputGradientTensor, 8, 4);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, InterpolationMode, 16, 8);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, RoundingDirection, 20, 12);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, DimensionCount, 24, 16);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, Scales, 32, 20);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, InputPixelOffsets, 40, 24);
REMAPND_OFFSET(DML_RESAMPLE_GRAD1_OPERATOR_DESC, OutputPixelOffsets, 48, 28);

// DML_RESAMPLE3_OPERATOR_DESC: 64 bytes on x64, 36 on x86
typedef struct DML_RESAMPLE3_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;        // +0/+0  const DML_TENSOR_DESC *
    const DML_TENSOR_DESC *OutputTensor;       // +8/+4  const DML_TENSOR_DESC *
    DML_INTERPOLATION_MODE InterpolationMode;  // +16/+8  DML_INTERPOLATION_MODE
    DML_AXIS_DIRECTION RoundingDirection;      // +20/+12  DML_AXIS_DIRECTION
    uint32_t DimensionCount;                   // +24/+16  UINT
    const float *Scales;                       // +32/+20  const FLOAT *
    const float *InputPixelOffsets;            // +40/+24  const FLOAT *
    const float *OutputPixelOffsets;           // +48/+28  const FLOAT *
    int32_t Antialiased;                       // +56/+32  BOOL
} DML_RESAMPLE3_OPERATOR_DESC;
REMAPND_SIZE(DML_RESAMPLE3_OPERATOR_DESC, 64, 36);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, InputTensor, 0, 0);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, OutputTensor, 8, 4);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, InterpolationMode, 16, 8);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, RoundingDirection, 20, 12);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, DimensionCount, 24, 16);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, Scales, 32, 20);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, InputPixelOffsets, 40, 24);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, OutputPixelOffsets, 48, 28);
REMAPND_OFFSET(DML_RESAMPLE3_OPERATOR_DESC, Antialiased, 56, 32);

// DML_OPERATOR_DESC: 16 bytes on x64, 8 on x86
typedef struct DML_OPERATOR_DESC {
    DML_OPERATOR_TYPE Type;  // +0/+0  DML_OPERATOR_TYPE
    const void *Desc;        // +8/+4  const void *
} DML_OPERATOR_DESC;
REMAPND_SIZE(DML_OPERATOR_DESC, 16, 8);
REMAPND_OFFSET(DML_OPERATOR_DESC, Type, 0, 0);
REMAPND_OFFSET(DML_OPERATOR_DESC, Desc, 8, 4);

// DML_BUFFER_BINDING: 24 bytes on x64, 24 on x86
// on x86 a UINT64 is aligned to 8 bytes, as compilers for Windows do
typedef struct DML_BUFFER_BINDING {
    ID3D12Resource *Buffer;               // +0/+0  ID3D12Resource *
    REMAPND_ALIGN8 uint64_t Offset;       // +8/+8  UINT64
    REMAPND_ALIGN8 uint64_t SizeInBytes;  // +16/+16  UINT64
} DML_BUFFER_BINDING;
REMAPND_SIZE(DML_BUFFER_BINDING, 24, 24);
REMAPND_OFFSET(DML_BUFFER_BINDING, Buffer, 0, 0);
REMAPND_OFFSET(DML_BUFFER_BINDING, Offset, 8, 8);
REMAPND_OFFSET(DML_BUFFER_BINDING, SizeInBytes, 16, 16);

// DML_BINDING_PROPERTIES: 24 bytes on x64, 24 on x86
// on x86 a UINT64 is aligned to 8 bytes, as compilers for Windows do
typedef struct DML_BINDING_PROPERTIES {
    uint32_t RequiredDescriptorCount;                // +0/+0  UINT
    REMAPND_ALIGN8 uint64_t TemporaryResourceSize;   // +8/+8  UINT64
    REMAPND_ALIGN8 uint64_t PersistentResourceSize;  // +16/+16  UINT64
} DML_BINDING_PROPERTIES;
REMAPND_SIZE(DML_BINDING_PROPERTIES, 24, 24);
REMAPND_OFFSET(DML_BINDING_PROPERTIES, RequiredDescriptorCount, 0, 0);
REMAPND_OFFSET(DML_BINDING_PROPERTIES, TemporaryResourceSize, 8, 8);
REMAPND_OFFSET(DML_BINDING_PROPERTIES, PersistentResourceSize, 16, 16);

#undef REMAPND_OFFSET
#undef REMAPND_SIZE
#undef REMAPND_ALIGN8
#undef REMAPND_ASSERT
