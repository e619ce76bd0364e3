import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { CommandGuard } from "./command-guard.ts"
import { allowed, casesOf, denied, guardWith, someLine, someScript, verdictOf } from "./testing.ts"

/** The laws of the command guard, each run so many times. The first one runs proved scripts in real bash. */
export function commandLaws(runs: number): void {
  let guard: CommandGuard
  let folder: string
  let workspace: string
  let markers: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "quartermaster-commands-"))
    workspace = join(folder, "ws")
    markers = join(folder, "bin")
    for (const path of [workspace, markers]) mkdirSync(path)
    const names = [...allowed, ...denied, "id", "tee", "x", "c", "z", "q"].map((line) => line.split(" ")[0]!)
    const marker = `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" '\u0001' >> "$QM_MARKS"\n`
    for (const name of new Set(names)) writeFileSync(join(markers, name), marker, { mode: 0o755 })
    guard = await guardWith({ workspace })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Builtins would not write a mark, so they are disabled. */
  const prelude = "enable -n echo printf test pwd true [\n"

  /** Such a script is not run: if the guard were wrong about it, it would reach outside the test's folder. */
  const namesPlaces = /(?:^|[^\w])\/(?!dev\/null)|\.\.|~(?!1)|\bcd\b/

  /** Runs a script in real bash: the words of each started program, and the errors. */
  function runMarked(script: string): { ran: string[][]; errors: string } {
    if (namesPlaces.test(script)) return { ran: [], errors: "" }
    const marks = join(folder, "marks")
    writeFileSync(marks, "")
    const { stderr } = spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", prelude + script], {
      cwd: workspace,
      env: { PATH: markers, QM_MARKS: marks },
      input: "",
      encoding: "utf8",
      timeout: 10_000,
    })
    const ran = readFileSync(marks, "utf8")
      .split("\u0001\0")
      .filter((mark) => mark !== "")
      .map((mark) => mark.split("\0").slice(0, -1))
    return { ran, errors: stderr }
  }

  const isAllowed = (line: string) => verdictOf(guard, line).verdict === "allow"

  test.each([
    ["lists of commands", someLine(2), runs],
    ["conditions and groups", someScript(1), runs / 4],
  ])(
    "real bash runs exactly the proved programs with the proved words, in %s",
    (_, lines, most) => {
      let tried = 0
      fc.assert(
        fc.property(
          lines.filter((line) => isAllowed(line)),
          (line) => {
            tried++
            const { look } = verdictOf(guard, line)
            const expected = new Set(look.extraTouches.filter(({ kind }) => kind === "command").map(({ what }) => what))
            const { ran, errors } = runMarked(line)
            // An earlier part may write files that fit a later pattern; then only the programs are compared.
            const isPattern = line.includes("*")
            const programs = new Set([...expected].map((what) => what.split(" ")[0]!))
            for (const words of ran)
              if (isPattern) expect(programs, line).toContain(words[0])
              else expect(expected, JSON.stringify({ line, words, errors })).toContain(words.join(" "))
            expect(errors, line).not.toMatch(/not found|syntax error|unexpected|warning/)
          },
        ),
        { numRuns: most },
      )
      expect(tried).toBeGreaterThanOrEqual(most)
    },
    600_000,
  )

  test("a plain line is proved, so that people are not asked needlessly", () => {
    const lines = fc.sample(someLine(0), { numRuns: 200, seed: 7 })
    expect(lines.filter(isAllowed).length).toBeGreaterThan(50)
    const scripts = fc.sample(someScript(0), { numRuns: 500, seed: 7 })
    expect(scripts.filter(isAllowed).length).toBeGreaterThan(30)
  })

  const someAllowed = fc
    .oneof({ weight: 3, arbitrary: someLine(0) }, { weight: 1, arbitrary: someScript(0) })
    .filter((line) => isAllowed(line))

  test("an allowed line with a denied command in it is never allowed", () => {
    const ends = ["; rm x", " && rm x", " | rm", " || rm x", "\nrm x", " $(rm x)", " `rm x`", " & rm x", " <(rm x)", ' "$(rm x)"', ";rm x", "|rm", "; env rm x", "; bash -c 'rm x'", "; r\\m x", "; 'rm' x", "\n\n\trm x"] // prettier-ignore
    fc.assert(
      fc.property(someAllowed, fc.constantFrom(...ends), (line, end) => {
        // A comment at the end would swallow what follows.
        fc.pre(!/#[^\n]*$/.test(line))
        const { verdict, look } = verdictOf(guard, line + end)
        expect(verdict, JSON.stringify(look.findings)).toBe("deny")
      }),
      { numRuns: runs },
    )
  })

  /** Ways to write the same line that the shell does not tell apart. */
  const respellings: readonly ((line: string, at: number) => string)[] = [
    (line, at) => insert(line, at, "''"),
    (line, at) => insert(line, at, '""'),
    (line, at) => insert(line, at, "\\\n"),
    (line, at) => insert(line, at, "\\"),
    (line) => `  ${line}`,
    (line) => `${line} # rm x`,
    (line) => `# c\n${line}`,
    (line) => line.replaceAll(" ", "  "),
    (line) => line.replaceAll(" ", "\t"),
  ]

  function insert(line: string, at: number, text: string): string {
    const place = at % (line.length + 1)
    return line.slice(0, place) + text + line.slice(place)
  }

  const all = ["commands", "own.commands"].flatMap(casesOf)
  const strict = all.filter(({ expect: expected, input }) => expected !== "allow" && input.length < 200)

  test("quotes, spaces, comments and continuations never make an asked or denied line allowed", () => {
    fc.assert(
      fc.property(fc.constantFrom(...strict), fc.constantFrom(...respellings), fc.nat(), (one, respell, at) => {
        const { cwd, environment, network } = one
        const line = respell(one.input, at)
        const { verdict, look } = verdictOf(guard, line, { cwd, environment, network })
        if (verdict !== "allow") return
        // Quotes inside may make another, harmless line; then bash must agree that it is one.
        const expected = new Set(look.extraTouches.filter(({ kind }) => kind === "command").map(({ what }) => what))
        const { ran } = runMarked(line)
        for (const words of ran) expect(expected, JSON.stringify({ line, words })).toContain(words.join(" "))
        for (const [program] of ran) expect(denied, JSON.stringify(line)).not.toContain(program)
      }),
      { numRuns: runs * 3 },
    )
  })

  test("an allowed line stays allowed when only its spelling changes", () => {
    const same = [respellings[4]!, respellings[5]!, respellings[6]!]
    fc.assert(
      fc.property(someAllowed, fc.constantFrom(...same), (line, respell) => {
        fc.pre(!/#[^\n]*$/.test(line))
        expect(verdictOf(guard, respell(line, 0)).verdict).toBe("allow")
      }),
      { numRuns: 100 },
    )
  })

  test("judging any long text ends, and never with a yes", () => {
    const texts = ["(".repeat(50_000), "$(".repeat(30_000), "`".repeat(50_000), "{".repeat(50_000), "if ".repeat(30_000), "a;".repeat(50_000), "echo ".repeat(20_000), "'".repeat(50_001), "\\".repeat(99_999), "<<E\n".repeat(20_000), "((".repeat(30_000), "${".repeat(30_000), "[[ ".repeat(30_000), "env ".repeat(20_000), "bash -c '".repeat(8_000), "a|".repeat(40_000), "x=".repeat(40_000), "\n".repeat(99_999), "a".repeat(100_000), "$((".repeat(20_000), "case x in x) ".repeat(8_000), "f() { ".repeat(15_000), "a#".repeat(50_000)] // prettier-ignore
    for (const text of texts) expect(verdictOf(guard, `${text}; rm x`).verdict, text.slice(0, 20)).not.toBe("allow")
  })
}
