// Stands for a library with another table at the time of the link: it has that table's symbol and nothing else.
#include "tidepool/detail/fast_path.h"

template <>
TP_EXPORT __thread tp::detail::fast_heap* tp::detail::agreed::thread_heap TP_TLS_MODEL = nullptr;
