/* Two of DirectML's operators on plain arrays: GATHER_ND prepared and run twice, RESAMPLE1 in one call.

   cc operators.c -I<prefix>/include -L<prefix>/lib -lremapnd */
#include <inttypes.h>
#include <stdio.h>

#include "remapnd_directml.h"
/* or Microsoft's DirectML.h; then */
#include "remapnd.h"

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, remapnd_last_error());
    return 1;
}

/* A packed tensor, described in the caller's memory. */
static DML_TENSOR_DESC tensor(DML_BUFFER_TENSOR_DESC *buffer, DML_TENSOR_DATA_TYPE type, uint32_t count,
                              const uint32_t *sizes) {
    DML_TENSOR_DESC desc;
    buffer->DataType = type;
    buffer->Flags = DML_TENSOR_FLAG_NONE;
    buffer->DimensionCount = count;
    buffer->Sizes = sizes;
    buffer->Strides = NULL;
    buffer->TotalTensorSizeInBytes = remapnd_directml_tensor_size(type, count, sizes, NULL);
    buffer->GuaranteedBaseOffsetAlignment = 0;
    desc.Type = DML_TENSOR_TYPE_BUFFER;
    desc.Desc = buffer;
    return desc;
}

static int gather_nd(void) {
    static const uint32_t data_sizes[] = {1, 2, 2, 2}, indices_sizes[] = {1, 1, 2, 2}, output_sizes[] = {1, 1, 2, 2};
    float data[] = {0, 1, 2, 3, 4, 5, 6, 7}, output[4];
    const int64_t first[] = {0, 1, 1, 0}, second[] = {-1, -1, 0, 0};
    DML_BUFFER_TENSOR_DESC buffers[3];
    DML_TENSOR_DESC input = tensor(&buffers[0], DML_TENSOR_DATA_TYPE_FLOAT32, 4, data_sizes);
    DML_TENSOR_DESC indices = tensor(&buffers[1], DML_TENSOR_DATA_TYPE_INT64, 4, indices_sizes);
    DML_TENSOR_DESC result = tensor(&buffers[2], DML_TENSOR_DATA_TYPE_FLOAT32, 4, output_sizes);
    DML_GATHER_ND_OPERATOR_DESC gather;
    DML_OPERATOR_DESC desc;
    char message[400];
    remapnd_op *op;
    remapnd_input inputs[2];
    remapnd_output outputs[1];
    int run, i;

    gather.InputTensor = &input;
    gather.IndicesTensor = &indices;
    gather.OutputTensor = &result;
    gather.InputDimensionCount = 3;
    gather.IndicesDimensionCount = 2;
    desc.Type = DML_OPERATOR_GATHER_ND;
    desc.Desc = &gather;

    /* What an older feature level says to 64-bit indices. */
    if (remapnd_directml_check(&desc, 0x2100, message, sizeof message) == REMAPND_INVALID_DESCRIPTOR) puts(message);

    if (remapnd_directml_compile(&desc, REMAPND_FEATURE_LEVEL_LAST, &op, message, sizeof message) != REMAPND_OK)
        return fail("compile");
    inputs[0].data = data;
    inputs[0].size = sizeof data;
    inputs[1].size = sizeof first;
    outputs[0].data = output;
    outputs[0].size = sizeof output;
    for (run = 0; run < 2; ++run) {
        inputs[1].data = run == 0 ? first : second;
        if (remapnd_op_dispatch(op, inputs, 2, outputs, 1) != REMAPND_OK) {
            remapnd_op_release(op);
            return fail("dispatch");
        }
        for (i = 0; i < 4; ++i) printf(i < 3 ? "%g " : "%g\n", output[i]);
    }
    remapnd_op_release(op);
    return 0;
}

static int resample1(void) {
    static const uint32_t data_sizes[] = {3}, output_sizes[] = {5};
    static const float scales[] = {2}, offsets[] = {0};
    const float data[] = {0, 1, 2};
    float output[5];
    DML_BUFFER_TENSOR_DESC buffers[2];
    DML_TENSOR_DESC input = tensor(&buffers[0], DML_TENSOR_DATA_TYPE_FLOAT32, 1, data_sizes);
    DML_TENSOR_DESC result = tensor(&buffers[1], DML_TENSOR_DATA_TYPE_FLOAT32, 1, output_sizes);
    DML_RESAMPLE1_OPERATOR_DESC resample;
    DML_OPERATOR_DESC desc;
    remapnd_input from;
    remapnd_output to;
    int i;

    resample.InputTensor = &input;
    resample.OutputTensor = &result;
    resample.InterpolationMode = DML_INTERPOLATION_MODE_LINEAR;
    resample.DimensionCount = 1;
    resample.Scales = scales;
    resample.InputPixelOffsets = offsets;
    resample.OutputPixelOffsets = offsets;
    desc.Type = DML_OPERATOR_RESAMPLE1;
    desc.Desc = &resample;
    from.data = data;
    from.size = sizeof data;
    to.data = output;
    to.size = sizeof output;
    if (remapnd_directml_dispatch(&desc, REMAPND_FEATURE_LEVEL_LAST, &from, 1, &to, 1) != REMAPND_OK)
        return fail("dispatch");
    for (i = 0; i < 5; ++i) printf(i < 4 ? "%g " : "%g\n", output[i]);

    /* A buffer that is too short is told, not overrun. */
    to.size = 16;
    if (remapnd_directml_dispatch(&desc, REMAPND_FEATURE_LEVEL_LAST, &from, 1, &to, 1) == REMAPND_INVALID_BUFFER)
        puts(remapnd_last_error());
    return 0;
}

int main(void) { return gather_nd() || resample1(); }
