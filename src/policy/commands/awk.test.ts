import { describe, expect, test } from "vitest"
import { isPlainAwk, readAwk } from "./awk.ts"

const plain = (text: string) => ({ value: text, glob: -1 })
const isRead = (...words: string[]) => !("because" in readAwk(words.map(plain)))

describe("what an awk script does is told by its pieces", () => {
  test.each([
    ["{print $1}", "a column"],
    ["NR>1 {s+=$2} END {print s}", "a comparison in a pattern"],
    ["length($0) > 100", "a comparison with a call before it"],
    ["{ if ($1 > 5 && $2 < 3) print $0 }", "a comparison in a header"],
    ['{ print ($1 > 2) ? "big" : "small" }', "a comparison in parentheses"],
    ['{ printf("%d\\n", $1 > 2) }', "a comparison among the words of a call"],
    ["{ print a[$1 > 2] }", "a comparison in an index"],
    ["{ x = $1 > 2; print x; y = x > 1 }", "a comparison after a print has ended"],
    ['BEGIN { print "system(1) | sh > x" }', "danger inside a string"],
    ['BEGIN { print "a\\" > \\"b" }', "danger inside a string, with quotes in it"],
    ["/a|b>c/ { print }", "danger inside an expression"],
    ["/a\\/b|c/ && /[^>|]/ { print }", "an escaped slash, and brackets"],
    ["{print} # > out | sh", "danger in a comment"],
    ["$1 ~ /x/ { n++ } END { print n / NR }", "an expression, then a division"],
    ["{ print $1/1024/1024, NF/2 }", "divisions"],
    ["{ a /= 2; print a }", "a division that is kept"],
    ["!seen[$0]++", "lines once"],
    ["{ count[$1]++ } END { for (k in count) print count[k], k }", "a table"],
    ["function f(x) { return x * 2 }\n{ print f($1) }", "a function of its own"],
    ["/a/ { getline; print }", "the next line of the same file"],
    ["{ while ((getline line) > 0) n++ } END { print n }", "all other lines"],
    ['{ print "x" > "/dev/stderr" }', "the terminal"],
    ['BEGIN { PROCINFO["sorted_in"] = "@ind_num_asc" }', "the order of a loop"],
    ["NR==FNR { a[$1]; next } $1 in a", "two files"],
    ['BEGIN { FS = "," } { gsub(/[[:space:]]+/, " "); print toupper($2) }', "functions"],
    ["NR % 2 == 0 || NR ** 2 <= 9", "other operators"],
    ['BEGIN { printf "%.2f\\n", 1.5e3 }', "numbers"],
    ["{ print $1 \\\n , $2 }", "a line that goes on"],
    ["ARGIND == 1 { a[$1]; next } $1 in a", "which of two files"],
    ['{ gsub(/\\r/, ""); print "a\\tb" }', "letters that are written as others"],
  ])("%s only prints: %s", (script) => {
    expect(isPlainAwk(script)).toBe(true)
  })

  test.each([
    ['BEGIN { system("id") }', "runs a program"],
    ['BEGIN { system ("id") }', "runs a program, with a space"],
    ['BEGIN { awk::system("id") }', "runs a program, by its long name"],
    ['BEGIN { x = 5system("id") }', "runs a program, right behind a number"],
    ['BEGIN { f = "system"; @f("id") }', "calls by name"],
    ['BEGIN { extension ("./x.so", "f") }', "loads a library"],
    ['BEGIN { bindtextdomain("/etc") }', "reads a catalogue"],
    ['@include "x"', "includes"],
    ['@load "filefuncs"', "loads"],
    ['{ print > "out" }', "writes"],
    ['{ print >> "out" }', "appends"],
    ["{ print $1 > $2 }", "writes where the data says"],
    ['{ print($1) > "out" }', "writes after parentheses"],
    ['{ print($1, $2) > "out" }', "writes after parentheses with two values"],
    ['{ printf("%s", $1) > "out" }', "writes after what looks like a call"],
    ['{ print a[1] > "out" }', "writes after an index"],
    ['{ print $1,\n $2 > "out" }', "writes, a line later"],
    ['{ print $1 \\\n > "out" }', "writes, on a line that goes on"],
    ['{ print "x" > "/dev/stderr" ".log" }', "writes to a name that begins as the terminal's"],
    ['{ print "x" > "/dev/tcp/h/80" }', "writes to a special name"],
    ['{ print | "sh" }', "pipes"],
    ['{ print |& "sh" }', "pipes both ways"],
    ['BEGIN { "id" | getline x }', "reads from a program"],
    ['BEGIN { getline x < "/etc/passwd" }', "reads another file"],
    ['BEGIN { getline < "/etc/passwd" }', "reads another file, into the line"],
    ['BEGIN { while ((getline l < ".env") > 0) print l }', "reads another file, in parentheses"],
    ['BEGIN { getline a[1] < "x" }', "reads another file, into an index"],
    ['BEGIN { ARGV[1] = "/etc/passwd"; ARGC = 2 }', "changes its words"],
    ['BEGIN { split("a b", ARGV) }', "changes its words by a function"],
    ['function f(a) { a[1] = "x" } BEGIN { f(ARGV) }', "changes its words through a name"],
    ['BEGIN { SYMTAB["ARGC"] = 2 }', "changes its words by name"],
    ['BEGIN { print ENVIRON["X"] }', "prints its environment"],
    ['BEGIN { if (1) /"/ ; print "a" > "o" ; /"/ }', "an expression that looks like a division to some"],
    ['BEGIN { x = 1; x++ /"/ 2; print "a" > "o" }', "a slash nobody can tell"],
    ['/[/]/ { print "a" > "o" } #/', "a slash in brackets"],
    ['/[^]/]/ { print "a" > "o" }', "a bracket that may not have ended"],
    ['/[]/]/ { print "a" > "o" }', "a bracket that may not have begun"],
    ['/[\\]/]/ { print "a" > "o" }', "a bracket with a backslash"],
    ["/a/ { x = length / 2 }", "a call without parentheses before a slash"],
    ['{ print } # \\\nBEGIN { system("id") }', "a comment that may go on"],
    ['{ print "a', "a string that does not end"],
    ['{ print "a\\\nb" }', "a string over two lines"],
    ["{ print 0x10 }", "a number that some read otherwise"],
    ["{ print `id` }", "a letter awk does not know"],
    ["BEGIN { x = case /2; system(t); y = 1/ 1 }", "a word of gawk's that is a variable to divide for the others"],
    ['BEGIN { x = "a\\\r"; x = "; system(t); #"\n }', "a string in which gawk escapes what is behind the return"],
    ['BEGIN { x = /a\\\r/; x = "/; system(t); #"\n }', "an expression in which gawk does so"],
    ['BEGIN { x = "€\\"; system(t); #"\n }', "a backslash that is half a letter in GBK"],
    ['BEGIN { x = /[€]/; x = "]/; system(t); #"\n }', "a bracket that is half a letter in GBK"],
    ['BEGIN { TEXTDOMAIN = "../../../x"; print _"a" }', "reads a catalogue, by gawk's short name"],
    ["BEGIN { ARGIND = -1 } { print }", "makes busybox read a file that is named as awk is"],
    ["BEGIN { --ARGIND == 1 } { print }", "does so while it compares"],
    ["BEGIN { getline ARGIND } { print }", "does so by what it reads"],
  ])("%s is not taken for plain: it %s", (script) => {
    expect(isPlainAwk(script)).toBe(false)
  })

  test.each([
    [["{print}", "f"], true, "a file"],
    [["-F:", "{print}", "f"], true, "what divides columns"],
    [["-F", ":", "-v", "n=3", "{print}", "n=4", "f", "-"], true, "variables and the input"],
    [["--", "{print}", "f"], true, "the end of options"],
    [["--version"], true, "its version"],
    [["{print}", "-v", "/etc/passwd"], false, "options have ended, so this is a file"],
    [["{print}", "-F", "/etc/passwd"], false, "options have ended, so this is a file"],
    [["{print}", "--", "f"], false, "some read a file of that name"],
    [["-f", "x.awk", "f"], false, "a script in a file"],
    [["-fx.awk", "f"], false, "a script in a file"],
    [["-i", "inplace", "{print}", "f"], false, "changes the file"],
    [["-E", "x.awk"], false, "a script in a file"],
    [["-W", "exec", "x.awk"], false, "a script in a file"],
    [["--include=x", "{print}"], false, "another script"],
    [["-dout", "{print}"], false, "writes its variables"],
    [["-v", "ARGC=3", "{print}"], false, "changes its words"],
    [["{print}", "ARGV=3", "f"], false, "changes its words"],
    [["-v", "ARGIND=-1", "{print}"], false, "changes its words, for busybox"],
    [["{print}", "ARGIND=-1", "f"], false, "changes its words, for busybox"],
    [["{print}", "x==/../hidden"], false, "a file for the awk of older BSDs"],
    [["{print}", "/inet/tcp/0/localhost/80"], false, "a host for gawk"],
    [["{print}", "/inet4/tcp/0/localhost/80"], false, "a host for gawk"],
    [["{print}", "/inetd/f"], true, "a folder that is named alike"],
    [["--version", 'BEGIN { system("id") }'], false, "not every awk ends there"],
    [["-v"], false, "nothing follows"],
    [[], false, "no script"],
  ] as [string[], boolean, string][])("the words %j are judged %s: %s", (words, expected) => {
    expect(isRead(...words)).toBe(expected)
  })

  test.each([
    ["*.ts", false],
    ["A*", false],
    ["ARGIND=*", false],
    ["x=*", false],
    ["AB*", true],
    ["src*", true],
    ["src/*.ts", true],
  ])(
    "a pattern of names could set a special variable, unless it begins as none of them: %s is read: %s",
    (value, read) => {
      const name = { value, glob: value.indexOf("*") }
      const use = readAwk([plain("{print}"), name])
      if (read) expect(use).toEqual({ reads: [name] })
      else expect(use).toHaveProperty("because")
    },
  )
})
