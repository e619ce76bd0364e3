import { unifiedDiff } from "../../tools/workspace/diff.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import type { ChainTurn } from "../context/turns.ts"
import { touchesOf } from "./touches-of.ts"

/** A file that a conversation has changed. */
export interface ChangedFile {
  path: string
  added: number
  removed: number
  /** Unified, against the start. Empty where it is not known. */
  diff: string
  deleted: boolean
  /** `single_edits`: the diff has its edits one after the other. `not_known`: it is not text, or was written over. */
  note?: "single_edits" | "not_known"
}

/** The most characters of one difference. */
const longest = 100_000

/** The facts about a file in the turns. */
interface Told {
  /** Its whole text before the first change and now, where every change is known. Undefined before is a new file. */
  before: { text: string | undefined } | undefined
  now: string | undefined
  /** The differences of single edits, where the whole is not known. */
  edits: string[]
  added: number
  removed: number
  deleted: boolean
}

/** The files that the calls of a conversation changed, with their difference against the start, from its turns alone. */
export async function changedFiles(
  app: Pick<AgentTools, "visibleTool">,
  agentId: string,
  turns: readonly ChainTurn[],
): Promise<ChangedFile[]> {
  const files = new Map<string, Told>()
  for (const { tool, input, result } of successfulCalls(turns)) {
    const registered = app.visibleTool(agentId, tool)
    if (registered?.effect !== "write" || registered.onlyReads?.(input) === true) continue
    for (const { kind, what } of touchesOf(registered, input)) {
      if (kind !== "write") continue
      const none = { before: undefined, now: undefined, edits: [], added: 0, removed: 0, deleted: false }
      const told: Told = files.get(what) ?? none
      files.set(what, told)
      note(told, input, result, registered.destructive === true)
    }
  }
  return Promise.all([...files].map(([path, told]) => shown(path, told)))
}

type Fields = Readonly<Record<string, unknown>>

function successfulCalls(turns: readonly ChainTurn[]) {
  let asked: ChainTurn | undefined
  return turns.flatMap((turn) => {
    if (turn.kind === "assistant") asked = turn
    if (turn.kind !== "results" || asked?.kind !== "assistant") return []
    const { calls } = asked.body
    return turn.body.results.flatMap((result, place) => {
      const input = calls[place]?.input
      if (result.status !== "success" || input === undefined) return []
      return [{ tool: result.name, input, result: fieldsOf(result.text) }]
    })
  })
}

/** The result as the model was told it. A text that was cut is no JSON any more. */
function fieldsOf(text: string): Fields {
  try {
    return Object(JSON.parse(text)) as Fields
  } catch {
    return {}
  }
}

/** Reads what a call did from the shapes of the workspace tools: a whole content, or the difference of an edit. */
function note(told: Told, input: Fields, { diff, created, additions, deletions }: Fields, destroys: boolean): void {
  const isFirst = told.before === undefined && told.edits.length === 0
  told.deleted = destroys
  if (created === true && isFirst) told.before = { text: undefined }
  const { content, append, encoding, oldText, newText, replaceAll } = input
  if (typeof diff === "string") {
    told.edits.push(diff)
    told.added += typeof additions === "number" ? additions : 0
    told.removed += typeof deletions === "number" ? deletions : 0
    told.now = edited(told.now, created === true, { oldText, newText, replaceAll })
  } else if (typeof content === "string" && encoding !== "base64")
    told.now = append !== true ? content : told.now === undefined ? undefined : told.now + content
  else told.now = undefined
}

/** The text after an edit, where that is plain: one exact piece in a text that is known. */
function edited(now: string | undefined, isNew: boolean, { oldText, newText, replaceAll }: Fields): string | undefined {
  if (typeof oldText !== "string" || typeof newText !== "string") return undefined
  if (isNew) return newText
  if (now === undefined || oldText === "" || !now.includes(oldText)) return undefined
  return replaceAll === true ? now.replaceAll(oldText, () => newText) : now.replace(oldText, () => newText)
}

async function shown(path: string, { before, now, edits, added, removed, deleted }: Told): Promise<ChangedFile> {
  if (deleted) return { path, added, removed, diff: "", deleted }
  if (before !== undefined && now !== undefined) {
    const { text, additions, deletions } = await unifiedDiff(path, before.text, now)
    return { path, added: additions, removed: deletions, diff: text.slice(0, longest), deleted }
  }
  const diff = edits.join("").slice(0, longest)
  if (diff !== "") return { path, added, removed, diff, deleted, ...(edits.length > 1 && { note: "single_edits" }) }
  return { path, added, removed, diff, deleted, note: "not_known" }
}
