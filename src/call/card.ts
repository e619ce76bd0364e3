import { setTimeout as sleep } from "node:timers/promises"
import type { CallRow, Card } from "../model/call.ts"
import { messageOf } from "../model/message.ts"
import { canonicalJson, sha256 } from "../model/plain.ts"
import type { Ports, Verdict } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { rememberable } from "./grants.ts"
import { whoAndWhat, type Walk } from "./walk.ts"

const previewMs = 10_000

/** What may run: the tool and input that were agreed to. */
export interface Agreed {
  tool: RegisteredTool
  input: unknown
}

/** What a person is asked to agree to: a tool with an input, and why it is asked for. */
export interface Standing extends Agreed {
  /** The input as it was given, in canonical JSON: what the desk shows. */
  raw: string
  verdict: Verdict
  asks: readonly Reason[]
}

/** What approvers see and what their yes is bound to, besides the row itself. */
export async function cardOf(walk: Walk, { tool, input, verdict }: Standing, ports: Ports): Promise<Card> {
  return {
    ...whoAndWhat(walk, tool),
    inputDigest: sha256(canonicalJson(input)),
    touches: walk.touches,
    files: walk.touches.list.length === 0 ? {} : await ports.digests(walk.touches),
    question: tool.question?.(input),
    approvers: verdict.approvers ?? [],
    remember: rememberable(tool, verdict, walk.touches),
  }
}

/** What an approver sees. A preview that fails is shown as such, so that nobody agrees to something unseen. */
export async function previewOf({ tool, input }: Agreed): Promise<string | null> {
  if (tool.preview === undefined) return null
  try {
    // As the store gives it back, so that an unchanged preview is equal to the one that was agreed to.
    const shown = await Promise.race([tool.preview(input), sleep(previewMs, undefined, { ref: false })])
    if (shown === undefined) return "(The preview took too long.)"
    return String(shown).toWellFormed().replaceAll("\0", "\\0")
  } catch (error) {
    return `(The preview failed: ${messageOf(error)})`
  }
}

/** Whether what stands at the desk is this tool with these reasons. */
export function shows(row: CallRow, { tool, asks }: Standing): boolean {
  if (row.tool !== tool.name || row.definitionHash !== tool.definitionHash) return false
  return asks.every((ask) => row.asks.some((seen) => seen.voice === ask.voice && seen.sentence === ask.sentence))
}

/** Whether what was agreed to is exactly this: tool, definition, input, preview, files and every reason to ask. */
export async function stillShows(walk: Walk, row: CallRow, standing: Standing, ports: Ports): Promise<boolean> {
  if (!shows(row, standing) || row.preview !== (await previewOf(standing))) return false
  const card = await cardOf(walk, standing, ports)
  return card.inputDigest === row.card.inputDigest && bindingPart(card) === bindingPart(row.card)
}

function bindingPart({ touches, files, approvers }: Card): string {
  return canonicalJson({ touches, files, approvers })
}
