import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { CommandGuard } from "./guard.ts"
import { guardWith, verdictOf } from "./testing.ts"

const files = ["src/a.ts", "src/b.ts", "src/deep/c.ts", "src/deep/c.d.ts", "README.md", "packages/api/.env", "packages/api/x.ts", "secrets/s", "odd/x y.ts", "odd/z.ts", "quoted/it's.ts", "dashed/-n"] // prettier-ignore

let folder: string
let guard: CommandGuard
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-handed-")))
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), "x\n")
  }
  mkdirSync(join(folder, "linked"))
  symlinkSync("/etc/passwd", join(folder, "linked/p.ts"))
  symlinkSync("../../..", join(folder, "linked/up"))
  guard = await guardWith({ workspace: folder })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const verdict = (line: string) => verdictOf(guard, line).verdict

describe("names that are found and handed on", () => {
  test.each([
    "find src -name '*.ts' | xargs grep -n foo",
    "find src -name '*.ts' -exec grep -n foo {} +",
    "find src -name '*.ts' -exec head -1 {} \\;",
    "find src -type f -name '*.ts' -print0 | xargs -0 wc -l",
    "find . -name '*.md' -exec wc -l {} +",
    "find src -name '*.ts' -not -name '*.d.ts' | xargs wc -l",
    "find . -name packages -prune -o -name secrets -prune -o -name '*.md' -print | xargs grep -n foo",
    "find . -path ./packages -prune -o -type f -name 'R*' -print | xargs cat",
    "find . -maxdepth 1 -type f | xargs wc -l",
    "find src -type f -name '*.ts' | sort | head -20 | xargs wc -l",
    "find src -name '*.ts' 2>/dev/null | grep -v deep | xargs grep -l foo",
    "find src -name '*.ts' -print0 | xargs -0 -n 1 head -3",
    "find src -name '*.ts' | grep -i -e a | xargs cat",
    "find src -name '*.ts' | grep -Ev 'a|b' | xargs cat",
    "find src -name '*.ts' | xargs -I{} cat {}",
    "find src -name '*.ts' | xargs -P 2 -I {} cat {}",
    "find src -name '*.ts' | xargs -r rg foo",
    "find src \\( -name 'a*' -o -name 'b*' \\) -print | xargs cat",
    "cd src && find . -name '*.ts' | xargs wc -l",
    "find src -type d -exec ls {} +",
    "find linked -type f | xargs cat",
  ])("%s is allowed", (line) => {
    expect(verdict(line)).toBe("allow")
  })

  test.each([
    ["find packages -type f | xargs cat", "the environment is among them"],
    ["find packages -name '.e*' -exec cat {} +", "the environment is among them"],
    ["find . -name '*.md' -o -name '.env' | xargs cat", "either of two names"],
    ["find . \\( -name '*.md' -o -name '.env' \\) -exec cat {} +", "either of two names, in brackets"],
    ["find packages -not -name '*.ts' -exec cat {} +", "all other names"],
    ["find packages -regex '.*x.*' | xargs cat", "a pattern that is not looked at"],
    ["find packages -name '[.]env' | xargs cat", "a pattern that is not looked at"],
    ["find packages -mindepth 3 -name api -prune -o -print | xargs cat", "what is left out only further down"],
    ["find packages -depth -name api -prune -o -print | xargs cat", "what is not left out after all"],
    ["find packages -newer README.md -name api -prune -o -print | xargs cat", "what may be left out"],
    ["find odd -name '*.ts' | xargs cat", "a name with a space is two words"],
    ["find quoted -name '*.ts' | xargs cat", "a name with a quote"],
    ["find src -name '*.ts' | xargs wc -l > src/o.ts", "made while it is looked for"],
    ["find src -name '*.ts' -exec cat {} \\; -print | xargs cat", "what a file says is taken for a name"],
    ["find src -name '*.ts' -printf '%f' | xargs cat", "other text than names"],
    ["find src -name '*.ts' -ls | xargs cat", "other text than names"],
    ["find src -name '*.ts' | xargs cat < README.md", "names from a file"],
    ["find src -name '*.ts' 2>&1 | xargs cat", "complaints are taken for names"],
    ["find src -name '*.ts' |& xargs cat", "complaints are taken for names"],
    ["find src -name '*.ts' | head -c 5 | xargs cat", "a part of a name"],
    ["find src -name '*.ts' | sed s/a/b/ | xargs cat", "other names"],
    ["find src -name '*.ts' | sort README.md | xargs cat", "names from a file"],
    ["find src -name '*.ts' | sort < README.md | xargs cat", "names from a file"],
    ["find src -name '*.ts' | grep -o a | xargs cat", "parts of names"],
    ["find src -name '*.ts' | grep -n a | xargs cat", "numbers before names"],
    ["find src -name '*.ts' | grep a README.md | xargs cat", "names from a file"],
    ["find src -name '*.ts' | cat - README.md | xargs cat", "names from a file"],
    ["find src -name '*.ts' | grep -ew README.md | xargs cat", "the pattern is 'w', and the names are from a file"],
    ["find src -name '*.ts' | grep -iew README.md | xargs cat", "names from a file"],
    ["find src -name '*.ts' | grep -e -v README.md | xargs cat", "the pattern is '-v', and the names are from a file"],
    ["find src -name '*.ts' | grep -ve README.md | xargs cat", "a pattern behind a bundle of letters"],
    ["find src -name '*.ts' | grep -e a -e README.md | xargs cat", "two patterns"],
    ["find . -maxdepth 1 -maxdepth 9 -type f -name '*' -exec cat {} +", "the last depth counts"],
    ["find packages -maxdepth 0 -maxdepth 9 -type f | xargs cat", "the last depth counts"],
    ["find src -exec cat ? -delete -exec cat {} +", "a pattern could stand for the end of the command"],
    ["find src -name '*.ts' | xargs -I {} -n 1 cat {}", "the last of two ways to hand names on counts"],
    ["find src -name '*.ts' | xargs -I{} -L1 cat {}", "the last of two ways to hand names on counts"],

    ["find src -name '*.ts' && ls | xargs cat", "names from somewhere else"],
    ["find src -name '*.ts' -print0 | xargs cat", "the names' ends are not those that are looked for"],
    ["find src -name '*.ts' | xargs -0 cat", "the names' ends are not those that are looked for"],
    ["find src -name '*.ts' -print0 | grep a | xargs -0 cat", "a line is not a name"],
    ["find src -name '*.ts' | xargs -a README.md cat", "names from a file"],
    ["find src -name '*.ts' | xargs -I{} cat {}/../../packages/api/.env", "a name inside of another"],
    ["find src -name '*.ts' | xargs -I{} sh -c 'cat {}'", "a name becomes a script"],
    ["find src -name '*.ts' | xargs", "no command"],
    ["find src -name '*.ts' | xargs grep", "a name becomes the pattern"],
    ["find src -name '*.ts' | xargs grep -r foo", "without names it reads all there is"],
    ["find src -name '*.ts' | xargs rg foo", "without names it reads all there is"],
    ["find src -name '*.ts' | xargs tar tf", "a name becomes an archive, the others its parts"],
    ["find src -name '*.ts' | xargs uniq", "the second name is written"],
    ["find src -name '*.ts' | xargs sort -o", "the first name is written"],
    ["find src -name '*.ts' | xargs sed -i s/a/b/", "all names are written"],
    ["find src -name '*.ts' | xargs git diff", "git takes them for more than files"],
    ["find src -name '*.ts' | xargs env cat", "a program behind another"],
    ["find src -name '*.ts' | xargs ./cat", "a program of the workspace"],
    ["find src -name '*.ts' | xargs touch", "it writes"],
    ["find src -name '*.ts' | timeout 5 xargs sh", "an interpreter"],
    ["find nothing -name '*.ts' | xargs cat", "of what is not there nothing can be said"],
    ["find -L src -name '*.ts' | xargs cat", "links are followed"],
    ["find src -name '*.ts' -exec cat {}.bak \\;", "another name"],
    ["find src -name '*.ts' -exec {} \\;", "the name is the program"],
    ["find src -name '*.ts' -exec cat {} src/a.ts \\;", "words behind the name"],
    ["find src -name '*.ts' -exec tee {} +", "it writes"],
    ["find src -name '*.ts' -exec cat {} + -exec sh {} \\;", "the second of two commands"],
    ["find src -name '*.ts' -exec sort -o README.md {} +", "it writes"],
    ["find src -name '*.ts' -execdir cat {} +", "it runs in other folders"],
    ["find src -name '*.ts' -ok cat {} \\;", "it asks"],
    ["find src -name '*.ts' -exec cat {}", "it does not end"],
    ["git -C linked/up status", "a link leads outside"],
  ])("%s is asked about: %s", (line) => {
    expect(verdict(line)).toBe("ask")
  })

  test.each([
    ["find linked | xargs cat", "a link leads outside"],
    ["find linked -name '*.ts' -exec cat {} +", "a link leads outside"],
    ["find src -name '*.ts' -exec cat /etc/passwd {} +", "a file outside besides"],
    ["find secrets -type f | xargs cat", "a rule denies it"],
    ["find . -name s -exec cat {} +", "a rule denies it"],
    ["find . -path '*secrets*' -exec cat {} +", "a rule denies it"],
    ["find src secrets -type f -exec grep x {} +", "a rule denies one of them"],
    ["find src -name '*.ts' | xargs rm", "the command is denied"],
    ["find src -name '*.ts' -exec sudo cat {} +", "the command is denied"],
    ['for f in secrets/*; do echo "$f"; done', "a rule denies it"],
    ['for f in sec*; do cat "$f/s"; done', "a rule denies it"],
    ["cat s*/s", "a rule denies it"],
  ])("%s is denied: %s", (line) => {
    expect(verdict(line)).toBe("deny")
  })

  test("what is handed on is a command of its own, and each name a file that it reads", () => {
    const { look } = verdictOf(guard, "find src -name 'a*' | xargs -n 1 grep -n foo")
    expect(look.more).toEqual([
      { kind: "command", what: "find src -name a*" },
      { kind: "read", what: "src" },
      { kind: "command", what: "grep -n foo" },
      { kind: "command", what: "xargs -n 1 grep -n foo" },
      { kind: "read", what: "src/a.ts" },
    ])
  })
})

describe("where the commands of groups run", () => {
  test.each([
    ["ls | { cd linked; cat p.ts; }", "a group at the end of a pipe changes its folder for itself"],
    ["{ ls; } | cat; cd linked; cat p.ts", "after a group, what is joined to what is not shifted"],
    ["(ls); cd linked && cat p.ts", "after a group, what is joined to what is not shifted"],
    ["if cd linked; then cat p.ts; fi", "a condition changes the folder for what follows"],
    ["if ls; then cd linked; fi; cat p.ts", "a branch changes the folder for what follows"],
    ["for d in linked; do cd $d; done; cat p.ts", "a loop changes the folder for what follows"],
    ["for f in a b; do cat p.ts; cd linked; done", "the second round begins where the first ended"],
    ["{ cd linked; } && cat p.ts", "a group changes the folder for what follows"],
    ["cd src && { cd ../linked && cat p.ts; }", "a group begins where the line is"],
    ["{ cd linked && ls; } < linked/p.ts", "what a group is given is opened before it begins"],
    ["cd linked && { ls; } < p.ts", "what a group is given is opened where the line is"],
  ])("%s is denied, because of a link: %s", (line) => {
    expect(verdict(line)).toBe("deny")
  })
})
