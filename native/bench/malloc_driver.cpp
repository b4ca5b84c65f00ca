// The driver of everything that goes by the name of malloc, and of the two rivals of the classic experiment. It is linked
// with the C++ library alone; the lab runs it unchanged under LD_PRELOAD for each allocator.
//
//   tidepool-bench-malloc FACE                     command loop (serve.h)
//   tidepool-bench-malloc FACE freed ORDER         256 MiB returned and idle; ORDER: order, shuffled, thread
//   tidepool-bench-malloc FACE waste DISTRIBUTION  rounding and resident overhead
//   tidepool-bench-malloc FACE rounding SIZE       resident over requested bytes of blocks of one size
//   tidepool-bench-malloc FACE threads COUNT       resident memory of a thread that used a little of many sizes
//   tidepool-bench-malloc malloc limited           a program that limits its own address space
//   tidepool-bench-malloc malloc growth [crowded]  one block lengthened by realloc in small steps
//   tidepool-bench-malloc FACE profile DISTRIBUTION FILE
//                                                  the same, and writes the size profile of the preloaded tidepool
//
// FACE: malloc, vector, zeroed, mutex-pool.
#include "malloc_faces.h"
#include "memory.h"
#include "serve.h"

#include <string>

namespace {

// The library is not linked: whether it is preloaded is the caller's business.
int write_profile(const char* path) {
  auto* write = reinterpret_cast<bool (*)(const char*)>(dlsym(RTLD_DEFAULT, "tp_write_size_profile"));
  if (write == nullptr || !write(path)) {
    std::fprintf(stderr, "the size profile was not written: %s\n", write == nullptr ? "tidepool is not preloaded" : path);
    return 1;
  }
  return 0;
}

template <class Face>
int run(std::string_view verb, std::string_view argument, bool has_usable_size) {
  if (verb.empty()) return bench::serve_any_size<Face>();
  if (verb == "freed") return bench::freed_scenario<Face>::run(argument);
  if (verb == "waste") return bench::run_waste<Face>(argument, has_usable_size);
  if (verb == "rounding") return bench::run_rounding<Face>(std::strtoul(std::string(argument).c_str(), nullptr, 10));
  if (verb == "threads") return bench::threads_scenario<Face>::run(std::atoi(std::string(argument).c_str()));
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  std::string_view face = count > 1 ? arguments[1] : "", verb = count > 2 ? arguments[2] : "", argument = count > 3 ? arguments[3] : "";
  bool profiles = verb == "profile" && count > 4;
  if (profiles) verb = "waste";
  int code = face == "malloc" && verb == "limited" ? bench::run_limited()
             : face == "malloc" && verb == "growth" ? bench::run_growth(argument == "crowded")
             : face == "malloc"     ? run<bench::malloc_face>(verb, argument, true)
             : face == "vector"     ? run<bench::vector_face>(verb, argument, false)
             : face == "zeroed"     ? run<bench::zeroed_face>(verb, argument, false)
             : face == "mutex-pool" ? run<bench::mutex_pool_face>(verb, argument, false)
                                    : 2;
  if (code == 2) std::fprintf(stderr, "usage: %s malloc|vector|zeroed|mutex-pool [freed ORDER | waste DISTRIBUTION]\n", arguments[0]);
  return code == 0 && profiles ? write_profile(arguments[4]) : code;
}
