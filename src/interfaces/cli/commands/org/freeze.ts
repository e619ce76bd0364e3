import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { Option } from "commander"
import type { CliCommand } from "../../common/cli-command.ts"
import { sessionModes } from "../../../../core/organisation.ts"
import { dailySession } from "../../../../core/call.ts"
import { agentOfEntries, wholeAgentId } from "../../common/known-names.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { CannotDo, choiceFlag } from "../../common/usage.ts"

export function addFreeze(program: CliCommand, run: Run): void {
  program
    .command("freeze")
    .example("qm freeze --agent dev --reason 'It loops.'")
    .description(
      "stop an agent (--agent) and its sub-agents, or all agents: abort running calls and deny new ones until 'qm thaw'",
    )
    .option("--reason <text>", "reason; denied agents see it")
    .addOption(new Option("--because <text>").hideHelp())
    .action(run(freeze))
  program
    .command("thaw")
    .example("qm thaw --agent dev")
    .description("end the freeze of an agent (--agent), or of all agents")
    .action(run(thaw))
  program
    .command("mode [mode]")
    .example("qm mode plan --agent dev", "qm mode edits --agent dev --session s1")
    .description(
      "show or set how strict an agent is: plan (read only, in all its sessions), ask (the default), edits (workspace edits of one session need no approval)",
    )
    .option("--session <id>", "session id (default: today's session of the agent, for example dev/2026-01-31)")
    .action(run(showOrSetMode))
}

function freeze(context: CliContext, flags: { reason?: string; because?: string }): Promise<number> {
  const because = flags.reason ?? flags.because
  return withPerson(context, async (app, by) => {
    const { agent } = context.flags
    const id = agent === undefined ? undefined : wholeAgentId(app, agent)
    await app.freeze({ agentId: id, by: by.id, because })
    const who = id === undefined ? "All agents are" : `Agent ${id} and its sub-agents are`
    const thaw = id === undefined ? "qm thaw" : `qm thaw --agent ${id}`
    printResult(
      context,
      { frozen: id ?? null },
      `${who} frozen: running calls are aborted and new ones denied. '${thaw}' ends the freeze.`,
    )
    return 0
  })
}

function thaw(context: CliContext): Promise<number> {
  return withPerson(context, async (app, by) => {
    const id = agentOfEntries(context, app)
    if (!(await app.thaw({ agentId: id, by: by.id }))) throw new CannotDo("not_frozen", nothingFrozen(id, app.frozen()))
    printResult(
      context,
      { thawed: id ?? null },
      id === undefined ? "Agents may make calls again." : `Agent ${id} may make calls again.`,
    )
    return 0
  })
}

/** A freeze of all agents is not ended by thawing one agent, nor the other way round. */
function nothingFrozen(id: string | undefined, frozen: readonly { agentId?: string }[]): string {
  const what = id === undefined ? "There is no freeze of all agents." : `Agent ${id} was not frozen itself.`
  const others = frozen.map((each) => (each.agentId === undefined ? "qm thaw" : `qm thaw --agent ${each.agentId}`))
  return others.length === 0 ? `${what} No agent is frozen.` : `${what} To end other freezes: ${others.join(", ")}.`
}

/** Without --session it is the session of calls that name none. A plan is for all sessions of the agent. */
function showOrSetMode(context: CliContext, word: string | undefined, flags: { session?: string }): Promise<number> {
  const mode = choiceFlag("mode", word, sessionModes)
  if (mode === undefined)
    return withApp(context, { readOnly: true }, (app, loaded) => {
      const { agentId: id, session } = sessionOf(context, flags.session, loaded, app)
      const now = app.modeOf(id, session)
      const others = sessionModes.filter((each) => each !== now).join("' or 'qm mode ")
      const text = `Agent ${id} is in mode ${now} in session ${session}. 'qm mode ${others}' changes it.`
      printResult(context, { agent: id, session, mode: now }, text)
      return Promise.resolve(0)
    })
  return withPerson(context, async (app, by, loaded) => {
    const { agentId: id, session } = sessionOf(context, flags.session, loaded, app)
    const sessionId = mode === "edits" ? session : flags.session
    await app.setMode({ agentId: id, sessionId, mode, by: by.id })
    const text = {
      plan: `Agent ${id} and its sub-agents are now in mode plan, in all their sessions. 'qm mode ask --agent ${id}' ends it.`,
      ask: `Agent ${id} is now in mode ask.`,
      edits: `Agent ${id} is now in mode edits in session ${session}, for 8 hours at most. 'qm mode ask --agent ${id}' ends it.`,
    }
    printResult(context, { agent: id, session: sessionId ?? null, mode }, text[mode])
    return 0
  })
}

function sessionOf(context: CliContext, given: string | undefined, loaded: LoadedConfig, app: Quartermaster) {
  const caller = callingAgent(context, loaded, app)
  return { agentId: caller, session: given ?? dailySession(caller, Date.now()) }
}
