import type { DemoLog, LoggedCall } from "./demo-log.ts"

/** A part of the demo. It is shown only when the audit log has it. */
export interface Scene {
  name: string
  sign: "done" | "refused"
  /** The expected entry of the log, for the sentence that reports that it is missing. */
  expects: string
  /** Returns the event, in a sentence made from the log, and the calls that prove it. */
  look(log: DemoLog): Seen | undefined
  /** Why that matters. */
  why: string
}

export interface Seen {
  what: string
  calls: readonly LoggedCall[]
}

/** In the order in which they happen. */
export const scenes: readonly Scene[] = [
  {
    name: "hire",
    sign: "done",
    expects: "root makes two roles and hires an agent",
    look({ calls }) {
      const made = calls.filter((call) => call.tool === "create_role" && isDone(call))
      const hired = hiredAs(calls, "developer")
      if (made.length < 2 || hired === undefined) return undefined
      const roles = made.map(({ input }) => text(input["name"])).toSorted()
      return {
        what: `Root makes the roles ${roles.join(" and ")}, and hires a developer.`,
        calls: [...made, hired],
      }
    },
    why: "A role has the tools of its work, never more than its maker has.",
  },
  {
    name: "pass",
    sign: "done",
    expects: "a call passes without asking anybody",
    look({ calls }) {
      const call = calls.find((one) => one.role === "developer" && one.tool === "read_file" && isDone(one))
      if (call === undefined || call.steps.length > 0) return undefined
      return { what: `The developer reads ${text(call.input["path"])}. Nobody is asked.`, calls: [call] }
    },
    why: "Harmless calls take nobody's time, but are recorded all the same.",
  },
  {
    name: "question",
    sign: "done",
    expects: "a person answers an agent's question",
    look({ calls }) {
      const call = calls.find((one) => one.tool === "ask_user" && isDone(one))
      const by = call?.steps.find(({ kind }) => kind === "answered")?.by
      if (call === undefined || by === undefined) return undefined
      const { question, answer } = call.result ?? {}
      return { what: `The developer asks: "${text(question)}" ${played(by)}: "${text(answer)}"`, calls: [call] }
    },
    why: "An agent that is not sure asks, and can wait for days if need be.",
  },
  {
    name: "denial",
    sign: "refused",
    expects: "a rule denies a call",
    look({ calls }) {
      const call = calls.find(({ end }) => end.code === "permission_denied" && !end.ran)
      const rule = call?.end.reasons?.find(({ check }) => check === "rule")
      if (call === undefined || rule === undefined) return undefined
      return { what: `The ${call.role} wants to write ${text(call.input["path"])}. ${rule.sentence}`, calls: [call] }
    },
    why: "What a rule denies never runs. The agent is told why, and goes on.",
  },
  {
    name: "edit",
    sign: "done",
    expects: "a person changes a call before approving it",
    look({ calls }) {
      const call = calls.find((one) => one.tool === "edit_file" && isDone(one))
      const answers = call?.steps.filter(({ kind }) => kind === "answered") ?? []
      const by = answers[0]?.by
      if (call === undefined || by === undefined) return undefined
      if (answers[0]?.text !== "edited the input" || !answers.some((one) => one.text === "approved")) return undefined
      const [, written = "what is right"] = /return `([^`]*)`/.exec(JSON.stringify(call.input)) ?? []
      const what = `The developer edits ${text(call.input["path"])}. ${played(by)} corrects it to "${written}" and approves.`
      return { what, calls: [call] }
    },
    why: "A person agrees to one exact call: what they saw is what ran.",
  },
  {
    name: "message",
    sign: "done",
    expects: "the developer's answer wakes root, and root hires a tester",
    look({ calls, notes }) {
      const call = hiredAs(calls, "tester")
      const developer = calls.find(({ role }) => role === "developer")
      if (call === undefined || developer === undefined) return undefined
      // Root ended its first run when it had hired the developer; only a message begins another.
      if (runs(notes, developer, "ended: completed") < 1 || runs(notes, call, "began") < 2) return undefined
      return { what: "The developer reports to root. That wakes root, and it hires a tester.", calls: [call] }
    },
    why: "A message is information: it approves nothing and gives no rights.",
  },
  {
    name: "withheld",
    sign: "refused",
    expects: "a person withholds a result",
    look({ calls }) {
      const call = calls.find(({ end }) => end.code === "result_withheld")
      const by = call?.steps.find(({ kind }) => kind === "answered" || kind === "withheld")?.by
      if (call === undefined) return undefined
      const who = by === undefined ? "A person" : played(by)
      const what = `The ${call.role} reads ${text(call.input["path"])}. ${who} withholds it.`
      return { what, calls: [call] }
    },
    why: "Results can be held back too: the model never sees the names.",
  },
  {
    name: "pipeline",
    sign: "done",
    expects: "a pipeline makes several calls",
    look({ calls }) {
      const call = calls.find((one) => one.tool === "run_pipeline" && isDone(one))
      const steps = calls.filter((one) => one.parentCallId === call?.callId && isDone(one))
      if (call === undefined || steps.length < 3) return undefined
      const tools = steps.map(({ tool }) => tool)
      const what = `The tester's pipeline: ${tools.join(", ")}.`
      return { what, calls: [call, ...steps] }
    },
    why: "Values go from call to call without a model; each call is decided.",
  },
  {
    name: "audit",
    sign: "done",
    expects: "the audit log verifies",
    look({ calls, records, isWhole }) {
      if (!isWhole || records.problem !== undefined) return undefined
      const what = `The audit log has ${calls.length} calls in ${records.count} records; all of them verify.`
      return { what, calls: [] }
    },
    why: "Refused calls are on record too, and later changes are found.",
  },
]

function isDone({ end }: LoggedCall): boolean {
  return end.status === "success" && end.ran
}

function hiredAs(calls: readonly LoggedCall[], role: string): LoggedCall | undefined {
  return calls.find((call) => call.agentId === "root" && isDone(call) && call.result?.["roleName"] === role)
}

/** Counts the runs of the calling agent that began, or ended like this, by the notes of its conversation. */
function runs(notes: DemoLog["notes"], { sessionId = "" }: LoggedCall, how: string): number {
  const entries = notes.get(sessionId) ?? []
  return entries.filter((entry) => entry.kind === "note" && entry.text?.includes(how) === true).length
}

function played(by: string): string {
  return `${name(by)} (played)`
}

function name(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1)
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "")
}
