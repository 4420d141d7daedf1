// The functions of include/remapnd.h: nothing is thrown out of them.
#include "remapnd.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "axis_map.hpp"
#include "directml/operator.hpp"
#include "directml/rules.hpp"
#include "dispatch.hpp"
#include "pool.hpp"
#include "remapnd_directml.h"
#include "synet_gather_elements.hpp"

using namespace remapnd;

struct remapnd_op {
    directml::CompiledOperator op;
};

struct remapnd_synet_gather_elements {
    SynetGatherElements gather;
};

namespace {

constexpr std::int64_t kMaxLength = 0xFFFFFFFF;

// How a function ends that does not succeed.
struct Failure {
    remapnd_status status;
    std::string message;
};

[[noreturn]] void fail(remapnd_status status, std::string message) { throw Failure{status, std::move(message)}; }

void require(bool holds, const char* function, const char* rule_and_value) {
    if (!holds) fail(REMAPND_INVALID_ARGUMENT, std::string(function) + ": " + rule_and_value);
}

std::string& last_error() {
    static thread_local std::string text;
    return text;
}

void keep(const std::string& message) noexcept {
    try {
        last_error() = message;
    } catch (...) {
        last_error().clear();
    }
}

// Runs the body of a function, and makes what it throws a status.
template <class Body>
remapnd_status guarded(const Body& body) noexcept {
    try {
        body();
        return REMAPND_OK;
    } catch (const Failure& f) {
        keep(f.message);
        return f.status;
    } catch (const std::bad_alloc&) {
        keep("out of memory");
        return REMAPND_OUT_OF_MEMORY;
    } catch (const TooManyWeights& e) {
        keep(e.what());
        return REMAPND_OUT_OF_MEMORY;
    } catch (const std::length_error&) {
        keep("out of memory");
        return REMAPND_OUT_OF_MEMORY;
    } catch (const std::exception& e) {
        keep(e.what());
        return REMAPND_INTERNAL_ERROR;
    } catch (...) {
        keep("an exception of unknown type");
        return REMAPND_INTERNAL_ERROR;
    }
}

// Writes what fits, with a final 0.
void write(const std::string& text, char* message, std::size_t size) noexcept {
    if (!message || size == 0) return;
    std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(message, text.data(), length);
    message[length] = 0;
}

template <class Names>
std::string listed(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void use(const std::string& name, const char* subject) {
    if (use_level(name)) return;
    fail(REMAPND_INVALID_ARGUMENT, std::string(subject) + " must be one of " + listed(levels_usable()) + ", got " + name);
}

// Takes the level that REMAPND_ISA names, once; going on with another one would hide that it cannot be had.
std::once_flag environment_seen;
void obey_environment() {
    std::call_once(environment_seen, [] {
        const char* name = std::getenv("REMAPND_ISA");
        if (name && *name) use(name, "environment: `REMAPND_ISA`");
    });
}

// Reads and checks a descriptor.
directml::Descriptor checked(const char* function, const DML_OPERATOR_DESC* desc, std::uint32_t feature_level) {
    require(desc, function, "`desc` must not be a null pointer");
    const directml::Level* level = directml::find_level(feature_level);
    if (!level)
        fail(REMAPND_INVALID_ARGUMENT, std::string(function) + ": `feature_level` must be one of " + directml::level_names() + ", got " +
                                           directml::text_of_address(feature_level));
    directml::Descriptor result;
    directml::Violations violations;
    const directml::Read read = directml::read_descriptor(desc, result, violations);
    if (read == directml::Read::foreign) fail(REMAPND_NOT_IN_LIBRARY, violations.text());
    if (read == directml::Read::done) directml::check(result, *level, violations);
    if (!violations.empty()) fail(REMAPND_INVALID_DESCRIPTOR, violations.text());
    return result;
}

void dispatch(const char* function, const directml::CompiledOperator& op, const remapnd_input* inputs, std::size_t input_count,
              const remapnd_output* outputs, std::size_t output_count) {
    if (input_count != op.input_count())
        fail(REMAPND_INVALID_ARGUMENT, std::string(function) + ": `input_count` must be " + std::to_string(op.input_count()) + ", got " +
                                           std::to_string(input_count));
    if (output_count != 1)
        fail(REMAPND_INVALID_ARGUMENT, std::string(function) + ": `output_count` must be 1, got " + std::to_string(output_count));
    require(inputs, function, "`inputs` must not be a null pointer");
    require(outputs, function, "`outputs` must not be a null pointer");
    directml::Buffer from[3];
    for (std::size_t i = 0; i < input_count; ++i)  // they are only read
        from[i] = {static_cast<std::byte*>(const_cast<void*>(inputs[i].data)), inputs[i].size};
    const directml::Buffer to{static_cast<std::byte*>(outputs[0].data), outputs[0].size};
    std::string fault = op.fault(from, to);
    if (!fault.empty()) fail(REMAPND_INVALID_BUFFER, std::move(fault));
    if (op.run(from, to) == Outcome::out_of_memory) throw std::bad_alloc();
}

// The map of a table, after a look at all that it is made from.
AxisMap map_of(const char* function, std::int64_t n_in, std::int64_t n_out, float scale, float into, float onto) {
    const auto in_range = [](std::int64_t n) { return 1 <= n && n <= kMaxLength; };
    const auto finite = [](float v) { return (std::bit_cast<std::uint32_t>(v) & 0x7F800000) != 0x7F800000; };
    require(in_range(n_in), function, "`n_in` must lie in [1, 4294967295]");
    require(in_range(n_out), function, "`n_out` must lie in [1, 4294967295]");
    require(finite(scale) && std::bit_cast<std::int32_t>(scale) > 0, function, "`scale` must be above 0 and finite");
    require(finite(into), function, "`input_offset` must be finite");
    require(finite(onto), function, "`output_offset` must be finite");
    return AxisMap(scale, into, onto);
}

}  // namespace

extern "C" {

const char* remapnd_version(void) noexcept { return REMAPND_VERSION; }

const char* remapnd_last_error(void) noexcept { return last_error().c_str(); }

const char* remapnd_status_name(remapnd_status status) noexcept {
    constexpr const char* names[] = {"OK", "INVALID_ARGUMENT", "INVALID_DESCRIPTOR", "NOT_IN_LIBRARY", "INVALID_BUFFER",
                                     "INDEX_OUT_OF_RANGE", "OUT_OF_MEMORY", "INTERNAL_ERROR"};
    return status >= REMAPND_OK && status <= REMAPND_INTERNAL_ERROR ? names[status] : "UNKNOWN";
}

remapnd_status remapnd_set_num_threads(std::int32_t threads) noexcept {
    return guarded([&] {
        if (threads < 1)
            fail(REMAPND_INVALID_ARGUMENT, "remapnd_set_num_threads: `threads` must be at least 1, got " + std::to_string(threads));
        set_num_threads(threads);
    });
}

std::int32_t remapnd_get_num_threads(void) noexcept { return get_num_threads(); }

const char* remapnd_level(void) noexcept {
    guarded(obey_environment);
    return kernels().level;
}

remapnd_status remapnd_use_level(const char* level) noexcept {
    return guarded([&] {
        require(level, "remapnd_use_level", "`level` must not be a null pointer");
        use(level, "remapnd_use_level: `level`");
        std::call_once(environment_seen, [] {});
    });
}

// ---- DirectML

remapnd_status remapnd_directml_check(const DML_OPERATOR_DESC* desc, std::uint32_t feature_level, char* message,
                                      std::size_t message_size) noexcept {
    const remapnd_status status = guarded([&] { checked("remapnd_directml_check", desc, feature_level); });
    write(status == REMAPND_OK ? "" : last_error(), message, message_size);
    return status;
}

remapnd_status remapnd_directml_compile(const DML_OPERATOR_DESC* desc, std::uint32_t feature_level, remapnd_op** op, char* message,
                                        std::size_t message_size) noexcept {
    if (op) *op = nullptr;
    const remapnd_status status = guarded([&] {
        require(op, "remapnd_directml_compile", "`op` must not be a null pointer");
        const directml::Descriptor valid = checked("remapnd_directml_compile", desc, feature_level);
        obey_environment();
        *op = new remapnd_op{directml::CompiledOperator(valid)};
    });
    write(status == REMAPND_OK ? "" : last_error(), message, message_size);
    return status;
}

remapnd_status remapnd_op_dispatch(const remapnd_op* op, const remapnd_input* inputs, std::size_t input_count, const remapnd_output* outputs,
                                   std::size_t output_count) noexcept {
    return guarded([&] {
        require(op, "remapnd_op_dispatch", "`op` must not be a null pointer");
        dispatch("remapnd_op_dispatch", op->op, inputs, input_count, outputs, output_count);
    });
}

std::size_t remapnd_op_input_count(const remapnd_op* op) noexcept { return op ? op->op.input_count() : 0; }
std::size_t remapnd_op_output_count(const remapnd_op* op) noexcept { return op ? 1 : 0; }

std::uint64_t remapnd_op_input_size(const remapnd_op* op, std::size_t position) noexcept {
    return op && position < op->op.input_count() ? op->op.input(position).bytes() : 0;
}

std::uint64_t remapnd_op_output_size(const remapnd_op* op, std::size_t position) noexcept {
    return op && position == 0 ? op->op.output().bytes() : 0;
}

void remapnd_op_release(remapnd_op* op) noexcept { delete op; }

remapnd_status remapnd_directml_dispatch(const DML_OPERATOR_DESC* desc, std::uint32_t feature_level, const remapnd_input* inputs,
                                         std::size_t input_count, const remapnd_output* outputs, std::size_t output_count) noexcept {
    return guarded([&] {
        const directml::Descriptor valid = checked("remapnd_directml_dispatch", desc, feature_level);
        obey_environment();
        dispatch("remapnd_directml_dispatch", directml::CompiledOperator(valid), inputs, input_count, outputs, output_count);
    });
}

std::uint64_t remapnd_directml_tensor_size(std::uint32_t data_type, std::uint32_t dimension_count, const std::uint32_t* sizes,
                                           const std::uint32_t* strides) noexcept {
    if (!sizes || dimension_count < 1 || dimension_count > directml::kMaxDimensions) return 0;
    std::uint64_t elements = 1, extent = 1;
    for (std::uint32_t d = 0; d < dimension_count; ++d) {
        if (sizes[d] == 0 || elements > kMaxLength / sizes[d]) return 0;
        elements *= sizes[d];
        if (strides) extent = std::min<std::uint64_t>(extent + std::uint64_t{sizes[d] - 1} * strides[d], std::uint64_t{kMaxLength} + 1);
    }
    if (extent > kMaxLength) return 0;
    const auto bits = static_cast<std::uint64_t>(directml::bits_of(data_type));
    return ((strides ? extent : elements) * bits + 31) / 32 * 4;
}

// ---- tables

remapnd_status remapnd_nearest_table(std::int64_t n_in, std::int64_t n_out, float scale, float input_offset, float output_offset,
                                     std::int32_t rule, std::int64_t* index) noexcept {
    return guarded([&] {
        const char* function = "remapnd_nearest_table";
        require(REMAPND_NEAREST_HALF_UP <= rule && rule <= REMAPND_NEAREST_CEIL, function, "`rule` must lie in [0, 3]");
        require(index, function, "`index` must not be a null pointer");
        const AxisMap map = map_of(function, n_in, n_out, scale, input_offset, output_offset);
        const std::vector<std::int64_t> table = map.nearest(n_in, n_out, static_cast<NearestRule>(rule));
        std::copy(table.begin(), table.end(), index);
    });
}

remapnd_status remapnd_linear_table(std::int64_t n_in, std::int64_t n_out, float scale, float input_offset, float output_offset,
                                    std::int32_t bits, std::int64_t* first, std::int64_t* second, double* weight) noexcept {
    return guarded([&] {
        const char* function = "remapnd_linear_table";
        require(bits == 32 || bits == 64, function, "`bits` must be 32 or 64");
        require(first && second && weight, function, "`first`, `second` and `weight` must not be null pointers");
        const AxisMap map = map_of(function, n_in, n_out, scale, input_offset, output_offset);
        const LinearTaps taps = map.linear(n_in, n_out, bits == 32 ? WeightType::f32 : WeightType::f64);
        std::copy(taps.first.begin(), taps.first.end(), first);
        std::copy(taps.second.begin(), taps.second.end(), second);
        std::copy(taps.weight.begin(), taps.weight.end(), weight);
    });
}

// ---- Simd

remapnd_status remapnd_synet_gather_elements_init(std::int32_t data_type, std::int32_t index_type, std::int32_t index_const, std::size_t,
                                                  const std::size_t* outer, std::size_t outer_size, std::size_t src_count, std::size_t inner,
                                                  std::size_t idx_count, remapnd_synet_gather_elements** context) noexcept {
    if (context) *context = nullptr;
    return guarded([&] {
        require(context, "SynetGatherElements.Init", "`context` must not be a null pointer");
        require(outer || outer_size == 0, "SynetGatherElements.Init", "`outer` must not be a null pointer, as `outerSize` is not 0");
        obey_environment();
        std::vector<std::uint64_t> sizes;
        if (outer_size) sizes.assign(outer, outer + outer_size);
        try {
            *context = new remapnd_synet_gather_elements{
                SynetGatherElements(data_type, index_type, index_const != 0, std::move(sizes), src_count, inner, idx_count)};
        } catch (const std::invalid_argument& e) {
            fail(REMAPND_INVALID_ARGUMENT, e.what());
        }
    });
}

remapnd_status remapnd_synet_gather_elements_set_index(remapnd_synet_gather_elements* context, const std::uint8_t* idx) noexcept {
    return guarded([&] {
        require(context, "SynetGatherElements.SetIndex", "`context` must not be a null pointer");
        SynetGatherElements& gather = context->gather;
        require(idx || !gather.index_const() || gather.moves_nothing(), "SynetGatherElements.SetIndex", "`idx` must not be a null pointer");
        std::string wrong = gather.set_index(reinterpret_cast<const std::byte*>(idx));
        if (!wrong.empty()) fail(REMAPND_INDEX_OUT_OF_RANGE, std::move(wrong));
    });
}

std::size_t remapnd_synet_gather_elements_internal_buffer_size(const remapnd_synet_gather_elements* context) noexcept {
    return context ? context->gather.internal_buffer_size() : 0;
}

remapnd_status remapnd_synet_gather_elements_forward(const remapnd_synet_gather_elements* context, const std::uint8_t* src,
                                                     const std::uint8_t* idx, std::uint8_t* dst) noexcept {
    return guarded([&] {
        const char* function = "SynetGatherElements.Forward";
        require(context, function, "`context` must not be a null pointer");
        const SynetGatherElements& gather = context->gather;
        if (gather.moves_nothing()) return;
        require(idx || gather.has_indices(), function, "`idx` must not be a null pointer, as no constant indices are set");
        const auto* from = reinterpret_cast<const std::byte*>(src);
        const auto* indices = reinterpret_cast<const std::byte*>(idx);
        auto* to = reinterpret_cast<std::byte*>(dst);
        if (!src || !dst) fail(REMAPND_INVALID_BUFFER, std::string(function) + ": `src` and `dst` must not be null pointers");
        if (const char* other = gather.overlapping(from, indices, to))
            fail(REMAPND_INVALID_BUFFER, std::string(function) + ": `dst` must not overlap `" + other + "`, got memory of both");
        std::string wrong = gather.forward(from, indices, to);
        if (!wrong.empty()) fail(REMAPND_INDEX_OUT_OF_RANGE, std::move(wrong));
    });
}

void remapnd_synet_gather_elements_release(remapnd_synet_gather_elements* context) noexcept { delete context; }

}  // extern "C"
