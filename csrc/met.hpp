// What was made once for a key and is kept.
#pragma once
#include <atomic>
#include <memory>
#include <utility>

namespace remapnd {

// Few keys.  The list only grows and has no lock: the child of a fork would find it locked for ever if another thread was
// inside.
template <class Key, class Value>
class Met {
public:
    Met() = default;
    Met(const Met&) = delete;
    ~Met() {
        for (const Entry* e = newest_; e;) delete std::exchange(e, e->before);
    }

    // The value for `key`, by make() if it is met for the first time.
    template <class Make>
    std::shared_ptr<const Value> get(const Key& key, const Make& make) const {
        for (const Entry* e = newest_.load(std::memory_order_acquire); e; e = e->before)
            if (e->key == key) return e->value;
        // Threads that get here at once all add theirs, which are equal.
        const auto fresh = std::make_shared<const Value>(make());
        auto* entry = new Entry{key, fresh, newest_.load(std::memory_order_relaxed)};
        while (!newest_.compare_exchange_weak(entry->before, entry, std::memory_order_release, std::memory_order_relaxed)) {
        }
        return fresh;
    }

private:
    struct Entry {
        Key key;
        std::shared_ptr<const Value> value;
        const Entry* before;
    };
    mutable std::atomic<const Entry*> newest_{nullptr};
};

}  // namespace remapnd
