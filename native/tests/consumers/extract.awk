# Writes the fenced blocks of a Markdown file to <out>/<number>.<language>, numbered from 1.
/^```/ {
  if (inside) {
    inside = 0
    close(file)
  } else {
    inside = 1
    file = sprintf("%s/%02d.%s", out, ++number, substr($0, 4))
    printf "" > file
  }
  next
}
inside { print > file }
