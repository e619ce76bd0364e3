import { spawn } from "node:child_process"
import { hookedClients, type ClientName } from "../../../../config/clients.ts"
import type { FoundHook } from "../../../../config/client-hooks.ts"
import { ConfigError } from "../../../../config/config-error.ts"
import type { CliContext } from "../../common/context.ts"
import { broken, ok, type DoctorFinding } from "./doctor-finding.ts"

/** Longer than any hook needs for a call that is refused at once. */
const longestMs = 30_000

/** Starts each installed hook as its client does, with a call that must be refused: a file outside the workspace. */
export async function checkHooks({ io }: CliContext): Promise<DoctorFinding[]> {
  const { hookOf } = await import("../../../../config/install.ts")
  const find = (client: ClientName): DoctorFinding | Hook | undefined => {
    try {
      return hookOf(client, io.cwd)
    } catch (error) {
      if (error instanceof ConfigError) return broken(`Hook of ${client}: ${error.message}`)
      throw error
    }
  }
  const findings = await Promise.all(
    hookedClients.map(async (client) => {
      const hook = find(client)
      return hook === undefined || "state" in hook ? hook : tryHook(client, hook, io)
    }),
  )
  return findings.filter((finding) => finding !== undefined)
}

async function tryHook(client: ClientName, hook: Hook, io: CliContext["io"]): Promise<DoctorFinding> {
  const { out, errors, code, problem } = await start(hook, JSON.stringify(outside(client, io.cwd)), io)
  if (/"deny"/.test(out) && code === 0 && /workspace/.test(out))
    return ok(`The hook of ${client} refuses a call that it must refuse (${hook.file}).`)
  const why = problem ?? (errors.trim().slice(0, 300) || `it answered ${out.slice(0, 200) || "nothing"}`)
  return broken(
    `The hook of ${client} does not refuse a call that it must refuse (${hook.file}): ${why.replace(/\.$/, "")}. Install it again: qm install ${client}`,
  )
}

interface Answer {
  out: string
  errors: string
  code: number | null
  problem?: string
}

type Hook = FoundHook

function start({ words, line }: Hook, text: string, { cwd, env }: CliContext["io"]): Promise<Answer> {
  return new Promise((resolve) => {
    const [program = "", ...args] = words ?? ["sh", "-c", line]
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"] })
    const answer: Answer = { out: "", errors: "", code: null }
    const timer = setTimeout(() => {
      answer.problem = `it did not answer in ${longestMs / 1000} s`
      child.kill("SIGKILL")
    }, longestMs)
    child.stdout.on("data", (chunk: Buffer) => (answer.out += chunk.toString("utf8")))
    child.stderr.on("data", (chunk: Buffer) => (answer.errors += chunk.toString("utf8")))
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      resolve({ ...answer, problem: `it cannot be started (${error.message})` })
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ ...answer, code })
    })
    child.stdin.end(text)
  })
}

/** A call to write a file outside every workspace, as the client would send it. */
function outside(client: ClientName, cwd: string): object {
  const path = "/quartermaster-doctor"
  const shared = { session_id: "doctor", cwd }
  const claude = (tool_name: string, tool_input: object) => ({
    ...shared,
    hook_event_name: "PreToolUse",
    tool_use_id: `doctor-${Date.now()}`,
    tool_name,
    tool_input,
  })
  switch (client) {
    case "codex":
      return claude("apply_patch", { command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` })
    case "gemini":
      return {
        ...shared,
        hook_event_name: "BeforeTool",
        tool_name: "write_file",
        tool_input: { file_path: path, content: "" },
      }
    case "qwen":
      return claude("write_file", { file_path: path, content: "" })
    case "cursor":
      return {
        conversation_id: "doctor",
        hook_event_name: "preToolUse",
        workspace_roots: [cwd],
        tool_name: "Write",
        tool_input: { path, content: "" },
      }
    case "copilot":
      return { sessionId: "doctor", cwd, toolName: "create", toolArgs: JSON.stringify({ path, file_text: "" }) }
    case "opencode":
      return {
        event: "before",
        sessionID: "doctor",
        callID: `doctor-${Date.now()}`,
        cwd,
        tool: "write",
        args: { filePath: path, content: "" },
      }
    default:
      return claude("Write", { file_path: path, content: "" })
  }
}
