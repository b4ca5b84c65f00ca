// A table as tidepool-tune writes it, for a program that mostly asks for 200 and 1500 bytes.
namespace tp::detail {
inline constexpr std::uint32_t class_sizes[] = {16, 32, 48, 64, 128, 208, 256, 512, 1024, 1536, 2048, 4096, 8192, 16384, 32768};
}
