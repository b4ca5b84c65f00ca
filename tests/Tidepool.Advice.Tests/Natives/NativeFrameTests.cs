namespace Tidepool.Advice.Tests.Natives;

public sealed class NativeFrameTests
{
    [Theory]
    [InlineData("main", "main")]
    [InlineData("demo::parse(char const*)", "demo::parse")]
    [InlineData("void demo::visit<demo::Node*>(demo::Node*, int)", "demo::visit")]
    [InlineData("std::map<int, demo::Item>* demo::make<int>()", "demo::make")]
    [InlineData("demo::Pool<int>::take()", "demo::Pool::take")]
    [InlineData("demo::(anonymous namespace)::helper(int)", "demo::{anonymous}::helper")]
    [InlineData("demo::run()::{lambda(int)#1}::operator()(int) const", "demo::run")]
    [InlineData("operator new(unsigned long)", "operator new")]
    [InlineData("operator new[](unsigned long)", "operator new[]")]
    [InlineData("demo::Value::operator<(demo::Value const&) const", "demo::Value::operator<")]
    [InlineData("demo::Value::operator int() const", "demo::Value::operator int")]
    [InlineData("demo::operators(int)", "demo::operators")]
    [InlineData("", "")]
    public void A_function_is_named_as_its_author_calls_it(string demangled, string name) =>
        Assert.Equal(name, NativeFrame.NameOf(demangled));

    [Theory]
    [InlineData("libstdc++.so.6.0.30", "anything", true)]
    [InlineData("libc.so.6", "strdup", true)]
    [InlineData("libcrypto.so.3", "CRYPTO_malloc", true)]
    [InlineData("libcrypto.so.3", "EVP_PKEY_new", false)]
    [InlineData("server", "std::vector::push_back", true)]
    [InlineData("server", "__gnu_cxx::new_allocator::allocate", true)]
    [InlineData("server", "operator new", true)]
    [InlineData("server", "xmalloc", true)]
    [InlineData("server", "zmalloc", true)] // of redis
    [InlineData("server", "ztrymalloc_usable_internal", true)]
    [InlineData("server", "malloc_report", false)]
    [InlineData("server", "demo::std::parse", false)]
    [InlineData("server", "parse", false)]
    public void Frames_of_the_standard_library_are_no_site(string module, string function, bool expected) =>
        Assert.Equal(expected, NativeFrame.IsLibrary(new StackPlace(module, function, "", 0)));

    [Theory]
    [InlineData("std::__cxx11::basic_string::_M_create", "std::string")]
    [InlineData("std::_Vector_base::_M_allocate", "std::vector")]
    [InlineData("std::vector::push_back", "std::vector")]
    [InlineData("std::__cxx11::_List_base::_M_get_node", "std::list")]
    [InlineData("std::_Deque_base::_M_allocate_node", "std::deque")]
    [InlineData("std::_Rb_tree::_M_create_node", "std::map")]
    [InlineData("std::_Hashtable::_M_insert", "std::unordered_map")]
    [InlineData("std::make_shared", "std::shared_ptr")]
    [InlineData("std::_Function_base::_M_init", "std::function")]
    [InlineData("std::set::insert", "std::set")]
    [InlineData("std::vectors::make", NativeFrame.Block)]
    [InlineData("std::thread::_M_start_thread", NativeFrame.Block)]
    public void The_container_is_what_the_program_names(string function, string type)
    {
        StackPlace[] stack = [Frame("operator new"), Frame(function), Frame("demo::parse"), Frame("std::map::insert")];
        Assert.Equal(type, NativeFrame.TypeOf(stack));
    }

    [Fact]
    public void Of_several_containers_the_one_that_the_program_calls_counts() => Assert.Equal(
        "std::set",
        NativeFrame.TypeOf([Frame("operator new"), Frame("std::_Rb_tree::_M_insert"), Frame("std::set::insert"), Frame("main")]));

    private static StackPlace Frame(string function) => new("server", function, "", 0);
}
