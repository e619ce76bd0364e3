import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { guardWith } from "./testing.ts"

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-destruction-")))
afterAll(() => rmSync(workspace, { recursive: true, force: true }))
for (const folder of ["src", "old/deep", "copy/src", "sub"]) mkdirSync(join(workspace, folder), { recursive: true })
for (const file of ["a.txt", "b.txt", "src/a.ts", "src/a.txt", "old/deep/x.txt", "copy/src/a.ts", "sub/only.txt"])
  writeFileSync(join(workspace, file), "text")

const guard = await guardWith({ mode: "sandbox", workspace, allow: ["git clean -n"], deny: [], missingSandbox: () => undefined }) // prettier-ignore

/** Reports whether a script asks because it visibly deletes or overwrites something, or why else it does not run. */
function verdictFor(what: string): string {
  const { findings, allowedBy } = guard.check([{ kind: "command", what, sandboxed: true, network: false }], {})
  if (allowedBy !== undefined) return "runs"
  return findings.map(({ verdict, isLiftable, reason }) => (isLiftable === true ? verdict : reason.sentence)).join()
}

const long = "#\n".repeat(11_000)

test.each([
  // Scripts that delete.
  "rm a.txt",
  "rm -rf src",
  "rm -f missing.txt",
  "rm -- -odd",
  'rm "$F"',
  "/bin/rm a.txt",
  "\\rm a.txt",
  "command rm a.txt",
  "busybox rm a.txt",
  "rmdir old",
  "unlink a.txt",
  "shred -u a.txt",
  "truncate -s 0 a.txt",
  'truncate -s 0 "$F"',
  "dd if=b.txt of=a.txt",
  "find . -name '*.log' -delete",
  "find . -name '*.log' -exec rm {} +",
  "find . -name '*.log' -execdir sh -c 'rm {}' ';'",
  "fd -e log -x rm",
  "rsync -a --delete src/ copy/",
  // Scripts with which git throws something away.
  "git clean -fd",
  "git -C sub clean -fdx",
  "git -c a.b=c clean -f",
  "git rm a.txt",
  "git reset --hard",
  "git reset --hard HEAD~1",
  "git reset --har",
  "git checkout -- a.txt",
  "git checkout .",
  "git checkout a.txt",
  "git checkout HEAD~1 a.txt",
  "git checkout -f main",
  "git restore a.txt",
  "git restore --staged --worktree a.txt",
  "git switch --discard-changes main",
  "git stash drop",
  "git stash clear",
  // Scripts that overwrite a file that exists.
  "echo x > a.txt",
  "echo x >| a.txt",
  "make &> a.txt",
  "> a.txt",
  ": > src/a.ts",
  'echo x > "$PWD/a.txt"',
  "echo x | tee a.txt",
  "cp b.txt a.txt",
  "cp b.txt src/a.ts",
  "cp a.txt src",
  "cp -t src a.txt",
  "cp --target-directory=src a.txt",
  "cp -r src copy",
  "mv b.txt a.txt",
  "mv a.txt src/",
  "ln -sf b.txt a.txt",
  "install -m 644 b.txt a.txt",
  // In other commands.
  "make && rm a.txt",
  "ls | xargs rm",
  "ls | xargs -I{} sh -c 'rm {}'",
  "env X=1 rm a.txt",
  "sudo rm a.txt",
  "timeout 5 rm a.txt",
  "nohup nice rm a.txt &",
  "sh -c 'rm a.txt'",
  "bash -lc 'cd src && echo x > a.ts'",
  "bash <<'EOF'\nrm a.txt\nEOF",
  "eval 'rm a.txt'",
  "echo $(rm a.txt)",
  "for f in *; do rm $f; done",
  "if true; then rm a.txt; fi",
  "(cd src; rm a.ts)",
  "cd src && echo x > a.ts",
  "cd missing && make; echo x > a.txt",
  "cd sub && $X; cd $Y; echo x > a.txt",
  "cd old && cd deep && echo $X > x.txt",
  "f() { rm a.txt; }; f",
  `cat > a.txt <<'EOF'\n${long}EOF`,
  "rm /tmp/x a.txt; $X",
  "TMPDIR=.; rm $TMPDIR/x",
])("in the mode sandbox it asks: %s", (script) => expect(verdictFor(script)).toBe("ask"))

test.each([
  "make",
  "node build.js",
  "node -e 'require(`fs`).rmSync(`a.txt`)'",
  "bash clean.sh",
  "echo x > new.txt",
  "echo x > new.txt; cat new.txt > other.txt",
  "echo x >> a.txt",
  "make > /dev/null 2>&1",
  "make 2> /dev/null",
  'echo "$X" > "$F"',
  "make | tee -a a.txt",
  "make | tee new.log",
  "cp a.txt new.txt",
  "cp a.txt old",
  "cp -n b.txt a.txt",
  "cp -r src new",
  "mv a.txt new.txt",
  "mv src/a.ts old",
  "ln -s a.txt new.txt",
  "touch a.txt",
  "truncate -s 10M new.img",
  "dd if=a.txt of=new.img count=1",
  "sed -i s/a/b/ a.txt",
  "git checkout main",
  "git checkout -b new",
  "git switch main",
  "git reset HEAD~1",
  "git restore --staged a.txt",
  "git clean -n",
  "git clean --dry-run -d",
  "git rm --cached a.txt",
  "git stash",
  "git stash pop",
  "find . -name rm -print",
  "grep -rn 'rm a.txt' src",
  "echo 'rm a.txt'",
  "echo rm a.txt # rm a.txt",
  "rm --help; $X",
  "cd sub && echo x > a.txt",
  `cat > new.html <<'EOF'\n${long}<b>text</b>\nEOF`,
  // /tmp is empty in the sandbox and ends with the command.
  "X=1; rm -rf /tmp/x; rm /tmp/y",
  "rm -rf $TMPDIR/x '${TMPDIR}/y'".replaceAll("'", '"'),
])("in the mode sandbox it runs: %s", (script) => expect(verdictFor(script)).toBe("runs"))

test("the sentence names the parts that delete or overwrite", () => {
  const check = (what: string) => guard.check([{ kind: "command", what, sandboxed: true, network: false }], {})
  expect(check("rm a.txt && sh -c 'echo x > b.txt'").findings).toMatchObject([
    {
      verdict: "ask",
      sandboxed: true,
      reason: {
        code: "command_destroys",
        params: { parts: ["rm a.txt", "> b.txt"] },
        sentence: "It deletes or overwrites something, and a person looks at that first, also in the mode 'sandbox': 'rm a.txt', '> b.txt'.", // prettier-ignore
      },
    },
  ])
})

test("a line of tools.shell.allow lifts the ask, and in other modes nothing changes", async () => {
  const listed = await guardWith({ mode: "sandbox", workspace, allow: ["rm"], deny: [], missingSandbox: () => undefined }) // prettier-ignore
  const check = (guard: typeof listed, what: string) =>
    guard.check([{ kind: "command", what, sandboxed: true, network: false }], {})
  expect(check(listed, "rm a.txt")).toMatchObject({ findings: [], allowedBy: { source: "tools.shell.allow[0]" } })
  const denylist = await guardWith({ mode: "denylist", workspace, allow: [], deny: [] })
  expect(check(denylist, "rm a.txt")).toMatchObject({ findings: [], allowedBy: { source: "tools.shell.mode" } })
})
