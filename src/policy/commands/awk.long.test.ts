import { spawnSync } from "node:child_process"
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, realpathSync, rmSync, symlinkSync, writeFileSync, writeSync } from "node:fs" // prettier-ignore
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { isPlainAwk, readAwk } from "./awk.ts"

/** Every awk there is, each under the name `awk`, because some look at it. `awk` itself only where it is none of the others. */
const programs = ["gawk", "mawk", "busybox", "original-awk", "awk"].map((name) => ({ name, awk: findAwk(name) }))
const found = programs.filter(({ awk }) => awk !== undefined)

function findAwk(name: string): string | undefined {
  const path = pathOf(name)
  if (path === "") return undefined
  const awk = join(mkdtempSync(join(tmpdir(), `quartermaster-${name}-`)), "awk")
  symlinkSync(realpathSync(path), awk)
  return spawnSync(awk, ["BEGIN { print 1 + 1 }"], { encoding: "utf8" }).stdout === "2\n" ? awk : undefined
}

function pathOf(name: string): string {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim() ?? ""
}

/**
 * A folder full of traps: `hidden` and `awk` are pipes that lose their text when anybody reads them, a script that is
 * loaded makes a file, and so does every program that is found by its name.
 */
let folder: string
let pipes: number[]
const before = ["awk", "f", "hidden", "inplace", "programs", "s.awk", "x=1", "x=="]
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-awk-"))
  writeFileSync(join(folder, "f"), "1 a\n2 b\n")
  for (const name of ["s.awk", "inplace", "x=1"]) writeFileSync(join(folder, name), 'BEGIN { print > "made" }\n')
  for (const name of ["x==", "programs"]) mkdirSync(join(folder, name))
  for (const name of ["touch", "cat", "sh"])
    writeFileSync(join(folder, "programs", name), `#!/bin/sh\n: > ${join(folder, "made")}\n`, { mode: 0o755 })
  spawnSync("mkfifo", [join(folder, "hidden"), join(folder, "awk")])
  pipes = ["hidden", "awk"].map((name) => openSync(join(folder, name), constants.O_RDWR | constants.O_NONBLOCK))
  for (const pipe of pipes) writeSync(pipe, "told\n")
})
afterAll(() => {
  for (const pipe of pipes) closeSync(pipe)
  for (const path of [folder, ...found.map(({ awk }) => join(awk!, ".."))])
    rmSync(path, { recursive: true, force: true })
})

function expectNoTrace(awk: string, words: readonly string[]): void {
  setTraps()
  const { stdout } = run(awk, words, "awk")
  const told = JSON.stringify(words)
  expect(readdirSync(folder).toSorted(), told).toEqual(before)
  expect(readFileSync(join(folder, "f"), "utf8"), told).toBe("1 a\n2 b\n")
  expect(stdout ?? "", told).not.toContain("told")
  for (const pipe of pipes) expect(drain(pipe), told).toBe("told\n")
}

function run(program: string, words: readonly string[], argv0 = program) {
  const env = { PATH: join(folder, "programs"), LC_ALL: "C.UTF-8", LANGUAGE: "de" }
  return spawnSync(program, words, { argv0, cwd: folder, env, input: "", encoding: "utf8", timeout: 10_000 })
}

const [strace, timeout] = [pathOf("strace") || "strace", pathOf("timeout")]

/** What awk started, opened and connected to, as strace saw it. */
function traced(awk: string, words: readonly string[]): string[] {
  setTraps()
  const trace = join(awk, "..", "trace")
  writeFileSync(trace, "")
  run(strace, ["-f", "-qq", "-o", trace, "-e", "trace=open,openat,creat,execve,socket,connect,unlink,rename", timeout, "-s", "KILL", "5", awk, ...words]) // prettier-ignore
  const calls = readFileSync(trace, "utf8").matchAll(/^\d+ +(\w+)\((?:AT_FDCWD, )?(?:"([^"]*)")?/gm)
  return [...calls].map(([, call, path]) => `${call} ${path ?? ""}`)
}

function setTraps(): void {
  for (const name of readdirSync(folder)) if (!before.includes(name)) rmSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, "f"), "1 a\n2 b\n")
  for (const pipe of pipes) {
    drain(pipe)
    writeSync(pipe, "told\n")
  }
}

function drain(pipe: number): string {
  const buffer = Buffer.alloc(4096)
  try {
    return buffer.toString("utf8", 0, readSync(pipe, buffer))
  } catch {
    return "" // It is empty.
  }
}

const values = ["$1", "x", '"v"', "/a/", "n/2", "(x > n)", "x (n)", "a[n > 1]", "length", "!x", "1 /2/ 3", "n++", "-n", "$NF", "f(h)", "x in a", "(getline x)", "(n, o)", "n || t", '_"v"', "case", "func", "default"] // prettier-ignore
const acts = ["print V", "print V, V", "print(V)(V)", 'printf("%s", V)', "x = V > V", "n = V / 2", "if (V) n++", "getline", "getline x", "(getline x) > 0", 'print V > "/dev/stderr"', "ARGIND == V", "switch (V) { case 1: n++ }", "for (k in a) V", "do n++; while (n < 4)", "nextfile", "delete a"] // prettier-ignore
const dangers = ["print V > o", "print(V) >> o", "print V,\nV > o", "print V | t", "printf V > V o", "system(t)", "system (t)", "5system(t)", "getline x < h; print x", "while ((getline x < h) > 0) print x", "c | getline x; print x", "ARGV[1] = h", "ARGIND = -1", "@f(t)", "n::system(t)", "t |& getline x", "getline x\n< h", "(getline x) < h", "getline # c\n< h", 'print V > "/dev/stderr" o', 'print V > "/dev/stderr"\no', "print V; > o", "for (print V; V > o;) n", "print V || t", "print V >= o"] // prettier-ignore
const covers = ["S", "S", "# S\n", 'x = "S"', "/S/", 'if (1) /"/; S; /"/', "n = n / 2; S; n = n / 2", '/[/]"/; S #/"', "/[^]/]/; S", "x = n /S/ 2", "if (V > 1) { S }", "while (n++ < 1) S", "x++ /S/ 2", "# c \\\nS", '"\\""; S; x = "\\""', "{ S }", "x = V /2; S; x = 1/ 1", "x = V /2; S; x = 1/ 1", "x = V /2; S; x = 1/ 1", 'x = V / "a/; S; #"\n', 'x = V\n/ "a/; S; #"\n', '/[[:alpha:]"\\/]/; S', 'x = /\\x/; x = "/; S; #"\n', 'x = "\\x"; S; x = ""', "print V \\\n; S", "x = n \\\n/S/ 2"] // prettier-ignore
const settings =
  'function f(p) { return p }\nBEGIN { o = "made"; t = ": > made"; h = "hidden"; c = "cat hidden"; n = 2 }'
const someAct = fc
  .tuple(fc.constantFrom(...acts, ...dangers), fc.infiniteStream(fc.constantFrom(...values)))
  .map(([act, stream]) => act.replaceAll("V", () => stream.next().value))
const someScript = fc
  .array(
    fc
      .tuple(fc.constantFrom(...covers), fc.constantFrom(...values), someAct)
      .map(([cover, value, act]) => cover.replaceAll("V", () => value).replace("S", () => act)),
    { minLength: 1, maxLength: 2 },
  )
  .chain((parts) => fc.constantFrom(...["; ", "\n"].map((gap) => `${settings}\n{ ${parts.join(gap)} }`)))

const scripts = ["{ print }", "END { print NR }", "s.awk", 'BEGIN { print > "made" }']
const options = ["-F", ":", "-F:", "-v", "n=3", "-vn=3", "-vn", "--", "-", "-f", "-fs.awk", "-e", "-E", "-i", "inplace", "-iinplace", "-l", "-d", "-dmade", "-D", "-o", "-omade", "-p", "-pmade", "-W", "-Wexec", "-We", "-Wd", "--exec=s.awk", "--inc=inplace", "--include", "--file=s.awk", "--pro=made", "--dump=made", "--version", "-version", "-safe", "-V", "--csv", "-b", "-g", "-n", "-S", "-vARGIND=-1", "-vARGC=9"] // prettier-ignore
const operands = ["f", "f", "n=4", "x=1", "x==/../hidden", "ARGIND=-1", "ARGC=9", "n==1", "./f", "/dev/stdin", "awk::n=1", "n=\\", "1=f", "_=f", "", "-", "-f", "--"] // prettier-ignore
const someWords = fc
  .tuple(
    fc.array(fc.constantFrom(...options), { maxLength: 3 }),
    fc.constantFrom(...scripts),
    fc.array(fc.constantFrom(...operands, ...options), { maxLength: 3 }),
  )
  .map((parts) => parts.flat())
const isRead = (words: readonly string[]) => !("because" in readAwk(words.map((value) => ({ value, glob: -1 }))))

test("there is an awk to run these laws against", () => {
  expect(found).not.toEqual([])
})

describe.each(programs)("in $name", ({ name, awk }) => {
  const other = found.find(
    (program) => program.name !== name && realpathSync(program.awk!) === realpathSync(awk ?? "/"),
  )
  const inAwk = test.skipIf(awk === undefined || (name === "awk" && other !== undefined))

  inAwk("a script that is taken for plain makes no file, runs nothing and reads what is among its words", () => {
    fc.assert(
      fc.property(someScript.filter(isPlainAwk), (script) => expectNoTrace(awk!, [script, "f"])),
      { numRuns: 400, endOnFailure: true },
    )
  })

  inAwk("a script that is taken for plain opens nothing but its words and what every script opens", ({ skip }) => {
    // Among them one with a flaw, because of the catalogue of messages.
    const usual = new Set([...["{ print }", "{ print 1 / 0 }", "{"].flatMap((script) => traced(awk!, [script, "f"])), "openat /dev/stderr"]) // prettier-ignore
    if (!usual.has("openat f")) skip("strace is not installed or may not trace")
    fc.assert(
      fc.property(someScript.filter(isPlainAwk), (script) => {
        expect(traced(awk!, [script, "f"]).filter((call) => !usual.has(call))).toEqual([])
      }),
      { numRuns: 100, endOnFailure: true },
    )
  })

  inAwk("words that are taken for plain load no script, make no file and set nothing that leads to another", () => {
    fc.assert(
      fc.property(someWords.filter(isRead), (words) => expectNoTrace(awk!, words)),
      { numRuns: 200, endOnFailure: true },
    )
  })
})
