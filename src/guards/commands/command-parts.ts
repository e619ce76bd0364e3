import { posix } from "node:path"
import type { CommandPart } from "../../core/guard.ts"
import type { Touch } from "../../core/touches.ts"
import type { CommandContext } from "./command-context.ts"
import { fromWorkspace } from "./judge-proved.ts"
import type { Lexed } from "./lexer.ts"
import type { Parsers } from "./parsers.ts"
import { programEffects, type ProgramEffects } from "./program-effects.ts"
import { proveSegment, readPlain, type ProvedSegment } from "./prove.ts"
import { searchCommand, searchScript } from "./search-script.ts"
import { workingFolders } from "./working-folders.ts"

/** A command in its parts, each with what it does. One part where the script is not a plain list of commands. */
export function commandParts(
  { what: script, cwd }: Touch,
  context: CommandContext,
  parsers: Parsers,
): readonly CommandPart[] {
  const lexed = readPlain(script, parsers)
  if ("because" in lexed) return [wholePart(script, lexed.because, parsers)]
  const { segments, joins } = lexed.line
  const texts = textsOf(lexed)
  const folders = workingFolders(segments, joins, [posix.resolve(context.workspace, cwd ?? ".")])
  if (texts === undefined || folders === undefined)
    return [wholePart(script, "it is not a plain list of commands", parsers)]
  return segments.map((segment, at) => {
    const part = { ...texts[at]!, reads: [], writes: [] }
    const words = segment.words.map(({ value }) => value)
    const effects = together(searchCommand(words, parsers).map(programEffects))
    const proof = proveSegment(segment, joins[at - 1] === "|", folders[at]!, { ...context, folder: folders[at]![0]! })
    if ("because" in proof) return { ...part, ...effects, unproved: proof.because }
    const { deletes: _written, ...used } = effects
    return { ...part, ...filesOf(proof, effects, context.workspace), ...used }
  })
}

function wholePart(text: string, unproved: string, parsers: Parsers): CommandPart {
  const effects = together(searchScript(text, parsers).commands.map(({ words }) => programEffects(words)))
  return { operator: "", text, reads: [], writes: [], ...effects, unproved }
}

function together(all: readonly ProgramEffects[]): Pick<CommandPart, "deletes" | "network" | "sendsOut"> {
  const deleting = all.filter(({ deletes }) => deletes !== undefined)
  return {
    ...(deleting.length === 0 ? {} : { deletes: [...new Set(deleting.flatMap(({ deletes = [] }) => deletes))] }),
    network: all.some(({ network }) => network),
    ...(all.some(({ sendsOut }) => sendsOut) ? { sendsOut: true } : {}),
  }
}

/** A deleting program's writes count as deletions, except where the shell writes its output. */
function filesOf({ files }: ProvedSegment, { deletes }: Pick<CommandPart, "deletes">, workspace: string) {
  const paths = (some: ProvedSegment["files"]) => [...new Set(some.map(({ path }) => fromWorkspace(path, workspace)))]
  const written = files.filter(({ kind }) => kind === "write")
  const redirected = written.filter((file) => file.redirected === true)
  return {
    reads: paths(files.filter(({ kind }) => kind === "read")),
    writes: paths(deletes === undefined ? written : redirected),
    ...(deletes === undefined ? {} : { deletes: paths(written.filter((file) => file.redirected !== true)) }),
  }
}

/** The text of each segment as it is written; undefined where the operators do not simply separate them. */
function textsOf({ tokens, script, line }: Lexed): { operator: string; text: string }[] | undefined {
  const hasDocument = line.segments.some(({ redirects }) => redirects.some(({ operator }) => operator === "<<"))
  if (hasDocument || tokens.some(({ kind }) => kind === "group")) return undefined
  const joins = tokens.filter(({ kind, text }) => kind === "join" && text !== "!")
  const texts = [undefined, ...joins].map((join, at) => {
    const start = join === undefined ? 0 : join.at + (script[join.at] === "\n" ? 1 : join.text.length)
    return { operator: join?.text ?? "", text: script.slice(start, joins[at]?.at).trim() }
  })
  return texts.length === line.segments.length ? texts : undefined
}
