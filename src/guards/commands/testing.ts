import { readFileSync } from "node:fs"
import fc from "fast-check"
import type { Guard, GuardResult } from "../../core/guard.ts"
import type { Touch } from "../../core/touches.ts"
import { createPathPolicy } from "../paths/path-policy.ts"
import { pathGuard } from "../paths/path-guard.ts"
import { commandGuard, type CommandGuard, type CommandGuardOptions } from "./command-guard.ts"

/** The lists of the cases. */
export const allowed =
  "ls cat echo pwd head tail wc grep true cd printf test find sort sed rg file man tar awk,git status,git log,git diff,git show,npm test"
    .split(",")
    .flatMap((line, at) => (at === 0 ? line.split(" ") : [line]))
export const denied = "rm curl wget sudo dd mkfs dig docker".split(" ")

const lines = (texts: readonly string[], list: string) =>
  texts.map((text, at) => ({ text, source: `tools.shell.${list}[${at}]` }))

type Change = Partial<Omit<CommandGuardOptions, "allow" | "deny">> & {
  allow?: readonly string[]
  deny?: readonly string[]
}

/** A guard with the lists of the cases, unless the test says otherwise. */
export async function guardWith(change: Change = {}): Promise<CommandGuard> {
  const { allow = allowed, deny = denied, workspace = "/ws", ...rest } = change
  const paths = pathGuard(createPathPolicy({ workspace, home: "/home/ann" }))
  const guard = commandGuard({
    workspace,
    mode: "ask",
    paths: (touches, call) => paths.check(touches, call),
    allow: lines(allow, "allow"),
    deny: lines(deny, "deny"),
    ...rest,
  })
  await guard.ready()
  return guard
}

export type Verdict = "allow" | "ask" | "deny"

/** The verdict for a script, with the rules of the cases: no tool touches `secrets`, and redirects are allowed. */
export function verdictOf(
  guard: Guard,
  what: string,
  touch: Partial<Touch> = {},
): { verdict: Verdict; look: GuardResult } {
  const look = guard.check([{ kind: "command", what, ...touch }], {})
  const isSecret = look.extraTouches.some(({ kind, what: path }) => kind !== "command" && /^secrets(?:\/|$)/.test(path))
  if (isSecret || look.findings.some(({ verdict }) => verdict === "deny")) return { verdict: "deny", look }
  const isListed = look.extraTouches.some(({ kind, derived }) => kind === "command" && derived === true)
  const mayRun = look.proved && (look.allowedBy !== undefined || isListed) && look.findings.length === 0
  return { verdict: mayRun ? "allow" : "ask", look }
}

export interface Case {
  readonly input: string
  readonly expect: Verdict
  readonly why: string
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly network?: boolean
}

export function casesOf(name: string): Case[] {
  const text = readFileSync(new URL(`../testing/cases/${name}.jsonl`, import.meta.url), "utf8")
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Case)
}

const programs = [
  "ls",
  "cat",
  "echo",
  "grep",
  "wc",
  "head",
  "git status",
  "git log",
  "npm test",
  "find",
  "sort",
] as const
const plainWords = ["a", "src", "-l", "x.ts", "'q w'", '"d q"', "a\\ b", "''", "a#b", "HEAD~1", "{}", "x=y", "-n 5", "'$(id)'", "'`id`'", "\\$x", '"$"', "^", "%", "a]", "'a'\"b\"c", "\\;", "\\|", "\\#", '"\\""', "--", "'\n'", '"a\nb"', "2>&1", "2>/dev/null", "<<<z", ">o", "\\\n", "'#'", "a\\\nb", "5"] // prettier-ignore
const oddWords = ["#c", "~", "$x", "$(id)", "`id`", "{a,b}", "\\", "'", '"', "(", ")", "<", "&", "!", "if", "then", "[", "]]", "coproc", "\r", "$'id'", "$\"id\"", "*", "a=~", "\\\\\n", "#\\\n", "<<E", "\nE\n", "time", "&>", ">&", "|&", "\0", "\u00a0", "id", "rm x", "${x}", "$((1))", "!(a)", "[a]", "~+", "<(id)", "{", "}", ";;", "\f", "\v"] // prettier-ignore
const variableWords = ['"$f"', "$f", "x$f", '"a $f"', "'$f'", "\\$f", "${f}y", '"${f}"', "$f$f", "$fx", "$g", "-$f", "$HOME", '"$USER is"', "$?", '"$PWD"', "$PATH"] // prettier-ignore
const separators = [" | ", " && ", " || ", "; ", "\n", ";", "|", "&&", " \\\n| ", " # c\n", "\n\n", " ;\n"] // prettier-ignore

const joinedBy = (words: readonly string[], gaps: readonly boolean[]) =>
  words.map((word, at) => (gaps[at] === true ? word : ` ${word}`)).join("")

const someSegment = (odd: number) =>
  fc
    .record({
      program: fc.constantFrom(...programs),
      words: fc.array(
        fc.oneof(
          { weight: 10, arbitrary: fc.constantFrom(...plainWords) },
          { weight: odd, arbitrary: fc.constantFrom(...oddWords) },
        ),
        { maxLength: 4 },
      ),
      gaps: fc.array(
        fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      ),
    })
    .map(({ program, words, gaps }) => `${program}${joinedBy(words, gaps)}`)

/** Mostly plain lines; `odd` is the weight of words that are not plain. */
export const someLine = (odd: number) =>
  fc
    .tuple(
      fc.array(someSegment(odd), { minLength: 1, maxLength: 3 }),
      fc.array(fc.constantFrom(...separators), { minLength: 2, maxLength: 2 }),
    )
    .map(([segments, joins]) =>
      segments.map((segment, at) => (at === 0 ? segment : `${joins[at - 1]!}${segment}`)).join(""),
    )

/** Groups and conditions around lines `L` and words `W`; some are invalid or not supported. */
const templates = ["if L; then L; fi", "if L\nthen L\nelse L\nfi", "if L; then L; elif L; then L; else L; fi", "{ L; }", "{ L\n}", "(L)", "( L ; )", "for f in W W; do L; done", "for f in W\ndo\nL\ndone", "for g in W W; do for f in W; do L; done; done", "L | { L; }", "(L) && L", "{ L; } || L", "(L) | L", "for f in W; do L; done | L", "if L; then L; fi > o", "{ L; } 2>&1", "for f in W W; do L; done; L", "if (L); then { L; }; fi", "! L", "L; (L; L)", "if L; then L fi", "for f in W; L; done", "{ L }", "(L", "for f in W; do L; done L", "while L; do L; done", "for f in; do L; done", "for f do L; done", "if L; then; L; fi", "if L then L; fi", "{L;}", "time { L; }", "case W in W) L;; esac", "f() { L; }; f", "for f in W; do L; done & L"] // prettier-ignore

/** Lines inside conditions and groups, and some near misses. */
export const someScript = (odd: number) =>
  fc
    .record({
      template: fc.constantFrom(...templates),
      lines: fc.array(someLine(odd), { minLength: 6, maxLength: 6 }),
      tails: fc.array(fc.oneof(fc.constant(""), fc.constantFrom(...variableWords)), { minLength: 6, maxLength: 6 }),
      words: fc.array(fc.constantFrom("a", "b.ts", "src/x", "-l", "'q w'", "*.md", "'*'", "id", "$g", "rm"), { minLength: 6, maxLength: 6 }), // prettier-ignore
    })
    .map(({ template, lines, tails, words }) => {
      let [line, word] = [0, 0]
      return template
        .replace(/W/g, () => words[word++ % 6]!)
        .replace(/L/g, () => `${lines[line % 6]!}${tails[line++ % 6] === "" ? "" : ` ${tails[(line - 1) % 6]!}`}`)
    })
