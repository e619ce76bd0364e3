import type { Command } from "commander"
import { sessionModes } from "../model/organisation.ts"
import type { Run, Session } from "./house.ts"
import { answer } from "./output.ts"
import { withPerson } from "./session.ts"
import { CannotDo, oneOf } from "./usage.ts"

export function addFreeze(program: Command, run: Run): void {
  program
    .command("freeze")
    .description("stop an agent (--agent) and everyone below it, or everyone: abort what runs, deny what comes")
    .option("--because <text>", "why; whoever is refused reads it")
    .action(run(freeze))
  program.command("thaw").description("end a freeze of an agent (--agent), or of everyone").action(run(thaw))
  program
    .command("mode <mode>")
    .description("how strict a session is: plan only reads, ask is the default, edits allows workspace edits")
    .requiredOption("--session <id>", "the session; a call without one belongs to its agent's day, dev/2026-01-31")
    .action(run(setMode))
}

function freeze(session: Session, { because }: { because?: string }): Promise<number> {
  const { agent: agentId } = session.flags
  return withPerson(session, async (app, by) => {
    await app.freeze({ agentId, by: by.id, because })
    const who = agentId === undefined ? "Everyone is" : `Agent ${agentId} and everyone below it are`
    const thaw = agentId === undefined ? "qm thaw" : `qm thaw --agent ${agentId}`
    answer(
      session,
      { frozen: agentId ?? null },
      `${who} frozen: what ran is aborted, what comes is denied. '${thaw}' ends it.`,
    )
    return 0
  })
}

function thaw(session: Session): Promise<number> {
  const { agent: agentId } = session.flags
  return withPerson(session, async (app, by) => {
    if (!(await app.thaw({ agentId, by: by.id })))
      throw new CannotDo("not_frozen", nothingFrozen(agentId, app.frozen()))
    answer(
      session,
      { thawed: agentId ?? null },
      agentId === undefined ? "Everyone may act again." : `Agent ${agentId} may act again.`,
    )
    return 0
  })
}

/** A freeze of everyone is not ended by thawing one, nor the other way round. */
function nothingFrozen(agentId: string | undefined, frozen: readonly { agentId?: string | undefined }[]): string {
  const what = agentId === undefined ? "There is no freeze of everyone." : `Agent ${agentId} was not frozen itself.`
  const others = frozen.map((each) => (each.agentId === undefined ? "qm thaw" : `qm thaw --agent ${each.agentId}`))
  return others.length === 0 ? `${what} Nobody is frozen.` : `${what} What is frozen ends with: ${others.join(", ")}.`
}

function setMode(session: Session, word: string, { session: sessionId }: { session: string }): Promise<number> {
  const mode = oneOf("mode", word, sessionModes) ?? "ask"
  return withPerson(session, async (app, by) => {
    await app.setMode({ sessionId, mode, by: by.id })
    answer(session, { session: sessionId, mode }, `Session ${sessionId} is in mode ${mode} now.`)
    return 0
  })
}
