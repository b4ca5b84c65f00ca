// What a program costs that uses no package.
Console.WriteLine("nothing");
