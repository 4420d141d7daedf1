/* remapnd in C: the gathers, scatters and resamplings of DirectML, and Simd's SynetGatherElements, on memory of the
   CPU.  Exact, the same bits on every instruction set and thread count.

   Every function returns a remapnd_status unless it says otherwise, throws nothing and aborts nothing; what went wrong is
   told in words by remapnd_last_error.  All functions may be called from several threads at once.  Arguments are the
   caller's promise as always in C: a pointer that is not null leads to as much memory as is said here. */
#ifndef REMAPND_H
#define REMAPND_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(REMAPND_BUILDS_LIBRARY)
#define REMAPND_API __declspec(dllexport)
#else
#define REMAPND_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define REMAPND_API __attribute__((visibility("default")))
#else
#define REMAPND_API
#endif

#ifdef __cplusplus
#define REMAPND_NOEXCEPT noexcept
extern "C" {
#else
#define REMAPND_NOEXCEPT
#endif

typedef int32_t remapnd_status;
enum {
    REMAPND_OK = 0,
    REMAPND_INVALID_ARGUMENT = 1,   /* a null pointer, a count, a feature level, a type */
    REMAPND_INVALID_DESCRIPTOR = 2, /* the descriptor breaks a rule; the message has all of them, one a line */
    REMAPND_NOT_IN_LIBRARY = 3,     /* an operator that this library does not have */
    REMAPND_INVALID_BUFFER = 4,     /* a buffer is null, too short, misaligned, or overlaps the output */
    REMAPND_INDEX_OUT_OF_RANGE = 5,
    REMAPND_OUT_OF_MEMORY = 6,
    REMAPND_INTERNAL_ERROR = 7
};

/* ---- the library */

/* Such as "0.3.0"; lives as long as the process. */
REMAPND_API const char *remapnd_version(void) REMAPND_NOEXCEPT;

/* What the last function in this thread that failed had to say, in English, UTF-8; "" before the first.  Lives until the
   next function fails in this thread. */
REMAPND_API const char *remapnd_last_error(void) REMAPND_NOEXCEPT;

/* The name of a status, such as "INVALID_BUFFER"; "UNKNOWN" for any other number. */
REMAPND_API const char *remapnd_status_name(remapnd_status status) REMAPND_NOEXCEPT;

/* How many threads a call may use, itself included: at least 1, for the whole process.  The start value is that of
   the environment variable REMAPND_NUM_THREADS, or the number of processors that it may use. */
REMAPND_API remapnd_status remapnd_set_num_threads(int32_t threads) REMAPND_NOEXCEPT;
REMAPND_API int32_t remapnd_get_num_threads(void) REMAPND_NOEXCEPT;

/* The instruction-set level in use: "plain", "v2", "v3", "v4" or "neon".  The start value is that of the environment
   variable REMAPND_ISA, or the best that the processor has.  No result depends on it. */
REMAPND_API const char *remapnd_level(void) REMAPND_NOEXCEPT;
/* INVALID_ARGUMENT where this library or processor has no such level. */
REMAPND_API remapnd_status remapnd_use_level(const char *level) REMAPND_NOEXCEPT;

/* ---- DirectML's operators

   The structs are those of directml.h.  Include remapnd_directml.h where that is not at hand, or Microsoft's DirectML.h:
   the layouts are the same.  GATHER, GATHER_ELEMENTS, GATHER_ND, GATHER_ND1, SCATTER_ELEMENTS, SCATTER_ND, RESAMPLE,
   RESAMPLE1 and RESAMPLE2 are in this library.

   What DirectML leaves open: a gather takes the nearest valid index for one out of range, a scatter leaves such an update
   out and of several updates of one place keeps the last in row-major order; a position midway between two elements
   rounds up (RESAMPLE, RESAMPLE1); 8-bit integers are cut towards zero, from the exact result. */

struct DML_OPERATOR_DESC;

/* DML_FEATURE_LEVEL_6_4: the last one known. */
#define REMAPND_FEATURE_LEVEL_LAST 0x6400u

/* Memory that is read, and memory that is written.  `data` is aligned to the size of an element; `size` is in bytes. */
typedef struct remapnd_input {
    const void *data;
    size_t size;
} remapnd_input;
typedef struct remapnd_output {
    void *data;
    size_t size;
} remapnd_output;

/* A checked descriptor that runs on buffers any number of times, also from several threads at once.  It keeps no pointer
   into the descriptor. */
typedef struct remapnd_op remapnd_op;

/* Look for everything that is wrong with a descriptor at a feature level (DML_FEATURE_LEVEL, such as 0x3000).  What is
   found is written to `message`, a line for each rule broken, cut to `message_size` bytes with the final 0; `message`
   may be null.  "" and REMAPND_OK where nothing is wrong. */
REMAPND_API remapnd_status remapnd_directml_check(const struct DML_OPERATOR_DESC *desc, uint32_t feature_level,
                                                  char *message, size_t message_size) REMAPND_NOEXCEPT;

/* Check a descriptor and prepare it.  *op becomes what remapnd_op_release takes, or null on failure. */
REMAPND_API remapnd_status remapnd_directml_compile(const struct DML_OPERATOR_DESC *desc, uint32_t feature_level,
                                                    remapnd_op **op, char *message,
                                                    size_t message_size) REMAPND_NOEXCEPT;

/* Run: buffers stand in the order of the struct's tensors.  Each is at least remapnd_op_input_size or
   remapnd_op_output_size bytes long: TotalTensorSizeInBytes, without the up to 3 bytes that rounding it to a multiple
   of 4 added.  The output shares no memory with an input; bytes between its elements stay as
   they are.  On any failure but OUT_OF_MEMORY nothing has been written. */
REMAPND_API remapnd_status remapnd_op_dispatch(const remapnd_op *op, const remapnd_input *inputs, size_t input_count,
                                               const remapnd_output *outputs, size_t output_count) REMAPND_NOEXCEPT;

/* All of these are 0 for a null `op` and a position that there is not. */
REMAPND_API size_t remapnd_op_input_count(const remapnd_op *op) REMAPND_NOEXCEPT;
REMAPND_API size_t remapnd_op_output_count(const remapnd_op *op) REMAPND_NOEXCEPT;
REMAPND_API uint64_t remapnd_op_input_size(const remapnd_op *op, size_t position) REMAPND_NOEXCEPT;
REMAPND_API uint64_t remapnd_op_output_size(const remapnd_op *op, size_t position) REMAPND_NOEXCEPT;

/* Not while another thread dispatches it.  Null is fine. */
REMAPND_API void remapnd_op_release(remapnd_op *op) REMAPND_NOEXCEPT;

/* compile, dispatch and release in one. */
REMAPND_API remapnd_status remapnd_directml_dispatch(const struct DML_OPERATOR_DESC *desc, uint32_t feature_level,
                                                     const remapnd_input *inputs, size_t input_count,
                                                     const remapnd_output *outputs,
                                                     size_t output_count) REMAPND_NOEXCEPT;

/* The smallest legal TotalTensorSizeInBytes, as DMLCalcBufferTensorSize says, but without its 32-bit overflow: bytes from
   the first to the last element, rounded up to a multiple of 4.  `strides` are in elements, null for packed.  0 where
   there is none: a null pointer, a count outside [1, 8], a size of 0, an unknown type, more than 2**32 - 1 elements. */
REMAPND_API uint64_t remapnd_directml_tensor_size(uint32_t data_type, uint32_t dimension_count, const uint32_t *sizes,
                                                  const uint32_t *strides) REMAPND_NOEXCEPT;

/* ---- the tables of resampling, for kernels of one's own

   x(X) = (X - output_offset) / scale - input_offset is the source position of output X, exactly; scale > 0, all finite.
   Lengths lie in [1, 2**32 - 1]; arrays have n_out elements. */

enum { REMAPND_NEAREST_HALF_UP = 0, REMAPND_NEAREST_HALF_DOWN = 1, REMAPND_NEAREST_FLOOR = 2, REMAPND_NEAREST_CEIL = 3 };

/* index: floor(x + 1/2), ceil(x - 1/2), floor(x) or ceil(x), clamped to [0, n_in). */
REMAPND_API remapnd_status remapnd_nearest_table(int64_t n_in, int64_t n_out, float scale, float input_offset,
                                                 float output_offset, int32_t rule, int64_t *index) REMAPND_NOEXCEPT;

/* Output X is (1 - weight) * data[first] + weight * data[second]: floor(x) and floor(x) + 1, clamped, and the exact
   fraction of x, rounded once to float32 (bits 32) or float64 (bits 64).  second is first, and weight -0.0, exactly where
   the fraction is 0 or both taps clamp to one sample. */
REMAPND_API remapnd_status remapnd_linear_table(int64_t n_in, int64_t n_out, float scale, float input_offset,
                                                float output_offset, int32_t bits, int64_t *first, int64_t *second,
                                                double *weight) REMAPND_NOEXCEPT;

/* ---- SynetGatherElements of the Simd library

   dst[b, c, i] = src[b, idx[b, c, i], i] for b in [0, product of outer), c in [0, idx_count), i in [0, inner).  A
   negative index counts from the end, once.  Shapes of the functions are Simd's; where Simd reads memory that it was
   not given these return a status. */

enum {
    REMAPND_TENSOR_32F = 0, /* data: 4 bytes */
    REMAPND_TENSOR_32I = 1, /* indices */
    REMAPND_TENSOR_8U = 3,  /* data: 1 byte */
    REMAPND_TENSOR_64I = 4, /* indices */
    REMAPND_TENSOR_16B = 7  /* data: 2 bytes */
};

typedef struct remapnd_synet_gather_elements remapnd_synet_gather_elements;

/* *context becomes what remapnd_synet_gather_elements_release takes, or null on failure.  `outer` has outer_size counts
   and may be null without any; index_users is a hint that changes nothing.  Zero counts are fine and move nothing. */
REMAPND_API remapnd_status remapnd_synet_gather_elements_init(int32_t data_type, int32_t index_type,
                                                              int32_t index_const, size_t index_users,
                                                              const size_t *outer, size_t outer_size, size_t src_count,
                                                              size_t inner, size_t idx_count,
                                                              remapnd_synet_gather_elements **context) REMAPND_NOEXCEPT;

/* With index_const: check and copy the indices that every forward will use, one block of them if they repeat over leading
   dimensions; indices set before stay on failure.  Without: no effect.  Not while another thread uses the context. */
REMAPND_API remapnd_status remapnd_synet_gather_elements_set_index(remapnd_synet_gather_elements *context,
                                                                   const uint8_t *idx) REMAPND_NOEXCEPT;

/* Bytes of constant indices held. */
REMAPND_API size_t
remapnd_synet_gather_elements_internal_buffer_size(const remapnd_synet_gather_elements *context) REMAPND_NOEXCEPT;

/* `idx` is not looked at, and may be null, once constant indices are set.  dst overlaps neither; when an index is out of
   range it may be partly written. */
REMAPND_API remapnd_status remapnd_synet_gather_elements_forward(const remapnd_synet_gather_elements *context,
                                                                 const uint8_t *src, const uint8_t *idx,
                                                                 uint8_t *dst) REMAPND_NOEXCEPT;

/* Null is fine. */
REMAPND_API void remapnd_synet_gather_elements_release(remapnd_synet_gather_elements *context) REMAPND_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#undef REMAPND_NOEXCEPT

#endif
