// What is wrong with a descriptor, in the words of remapnd.directml.check.
#pragma once
#include <string>
#include <vector>

#include "text.hpp"

namespace remapnd::directml {

class Violations {
public:
    void set_operator(const char* name) { operator_ = name; }

    // `rule` says what the field must do; `level` is the first feature level that accepts the value, or null.
    template <class Value>
    void report(const std::string& field, const std::string& rule, const Value& value, const char* level = nullptr) {
        add(field, rule, text_of(value), level);
    }
    void add(const std::string& field, const std::string& rule, const std::string& value, const char* level = nullptr) {
        const std::string accepted = level ? std::string(" (accepted from ") + level + ")" : "";
        lines_.push_back(operator_ + ": `" + field + "` " + rule + ", got " + shortened(value) + accepted);
    }

    bool empty() const { return lines_.empty(); }
    std::size_t count() const { return lines_.size(); }
    // One a line.
    std::string text() const {
        std::string all;
        for (const std::string& line : lines_) all += (all.empty() ? "" : "\n") + line;
        return all;
    }

private:
    std::string operator_ = "DML_OPERATOR_DESC";
    std::vector<std::string> lines_;
};

}  // namespace remapnd::directml
