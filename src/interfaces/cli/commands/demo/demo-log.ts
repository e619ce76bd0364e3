import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { AuditEntry, EndEntry, StartEntry, StepEntry } from "../../../../core/audit-entry.ts"

/** An ended call, as the audit log has it. */
export interface LoggedCall {
  callId: string
  agentId: string
  role: string
  tool: string
  parentCallId: string | undefined
  sessionId: string | undefined
  input: Readonly<Record<string, unknown>>
  /** Undefined when there is none, or the model may not see it. */
  result: Readonly<Record<string, unknown>> | undefined
  end: EndEntry
  steps: readonly StepEntry[]
}

/** The contents of the audit log so far: the calls, oldest first, and the notes of each conversation. */
export interface DemoLog {
  calls: readonly LoggedCall[]
  notes: ReadonlyMap<string, readonly AuditEntry[]>
  records: { count: number; problem?: string }
  /** True if the story has ended, so that nothing is added any more. */
  isWhole: boolean
}

export async function readDemoLog(app: Quartermaster, isWhole: boolean): Promise<DemoLog> {
  await app.settle()
  const rows = await app.audit.list({ limit: 1000 })
  const stories = await app.audit.showMany(rows.map(({ callId }) => callId))
  const calls = [...stories.values()].flatMap((entries) => loggedCall(entries))
  const sessions = new Set(calls.flatMap(({ sessionId }) => (sessionId === undefined ? [] : [sessionId])))
  const verified = await app.audit.verify()
  return {
    calls: calls.toSorted((one, other) => one.end.at - other.end.at),
    notes: await app.audit.showMany([...sessions]),
    records: verified.ok ? { count: verified.records } : { count: 0, problem: verified.problem },
    isWhole,
  }
}

function loggedCall(entries: readonly AuditEntry[]): LoggedCall[] {
  const end = entries.find((entry): entry is EndEntry => entry.kind === "end")
  if (end === undefined) return []
  // A call that ended before it ran has its input at its end.
  const start = entries.find((entry): entry is StartEntry => entry.kind === "start")
  const { callId, agentId, tool } = end
  return [
    {
      callId,
      agentId,
      role: end.role ?? "",
      tool,
      parentCallId: start?.parentCallId ?? end.parentCallId,
      sessionId: start?.sessionId ?? end.sessionId,
      input: asObject(start?.input ?? end.input) ?? {},
      result: asObject(end.result),
      end,
      steps: entries.filter((entry): entry is StepEntry => entry.kind !== "start" && entry.kind !== "end"),
    },
  ]
}

/** Texts in the audit log may be cut, and then they are no JSON. */
function asObject(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "")
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
