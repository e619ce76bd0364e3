import { Command, CommanderError } from "commander"
import { OrganisationError } from "../model/organisation-book.ts"
import { addAgents } from "./agents.ts"
import { addApprovals } from "./approvals.ts"
import { addAudit } from "./audit.ts"
import { addBackup } from "./backup.ts"
import { addCall } from "./call.ts"
import { addDepartments } from "./departments.ts"
import { addDoctor } from "./doctor.ts"
import { addExperiments } from "./experiments.ts"
import { addFreeze } from "./freeze.ts"
import { addGrants } from "./grants.ts"
import { addGroups } from "./groups.ts"
import type { Flags, House, Io, Run, Session } from "./house.ts"
import { addInit } from "./init.ts"
import { addInstall } from "./install.ts"
import { refuseInside } from "./inside.ts"
import { addMcp } from "./mcp.ts"
import { jsonText, say, tell } from "./output.ts"
import { addPeople } from "./people.ts"
import { addPlugins } from "./plugins.ts"
import { addRoles } from "./roles.ts"
import { addRules } from "./rules.ts"
import { addServe } from "./serve.ts"
import { addStart } from "./start.ts"
import { addTokens } from "./tokens.ts"
import { addTools } from "./tools.ts"
import { addTrash } from "./trash.ts"
import { addTrust } from "./trust.ts"
import { CannotDo, repeated, unknownCommand, UsageError } from "./usage.ts"
import { addWhy } from "./why.ts"

const commands = [
  addCall,
  addWhy,
  addTools,
  addGroups,
  addApprovals,
  addGrants,
  addRules,
  addRoles,
  addAgents,
  addDepartments,
  addPeople,
  addTokens,
  addMcp,
  addPlugins,
  addExperiments,
  addServe,
  addFreeze,
  addAudit,
  addTrash,
  addBackup,
  addInit,
  addInstall,
  addTrust,
  addDoctor,
  addStart,
]

/** Reads the command line, runs the command it names and resolves with the exit code. */
export async function runProgram(argv: readonly string[], io: Io, house: House): Promise<number> {
  let code = 0
  const program = new Command("qm")
  const run: Run =
    (work) =>
    async (...given) => {
      const flags = { json: false, set: [], ...program.opts<Partial<Flags>>() }
      const session = { io, house, flags }
      try {
        code = await work(session, ...given)
      } catch (error) {
        if (!(error instanceof OrganisationError || error instanceof CannotDo)) throw error
        code = refused(session, error)
      }
    }
  program
    .description("Hands LLM agents their tools: decides, limits, asks and records every call.")
    .option("--json", "print JSON instead of text")
    .option("--agent <id>", "the agent that calls or looks; in lists, whose")
    .option("--as <person>", "who answers and changes; the user of this machine when left out")
    .option("--config <file>", "the configuration file, instead of the one in this folder")
    .option("--data <dir>", "the folder where the record is kept")
    .option("--set <key=value>", "set a key of the configuration; can be repeated", repeated)
    .option("-C <folder>", "work as if started in this folder; comes before everything else")
    .option("-V, --version", "print the version")
    .on("option:C", () => {
      throw new UsageError("-C comes first: qm -C <folder> <command>.")
    })
    .on("option:version", () => {
      io.stdout.write(`${house.version()}\n`)
      throw new CommanderError(0, "version", "")
    })
    .on("command:*", ([word = ""]: string[]) => {
      throw unknownCommand(word, program)
    })
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} })
    .addHelpText("after", exitCodes)
    .hook("preAction", (_, command) => refuseInside(io, command))
    .exitOverride()
  for (const add of commands) add(program, run)

  if (argv.length === 0) program.outputHelp()
  else await program.parseAsync([...argv], { from: "user" })
  return code
}

/** What cannot be done or does not exist: its sentence for people, its code for programs. */
function refused(session: Session, error: OrganisationError | CannotDo): number {
  const { code, message } = error
  const details = error instanceof OrganisationError ? error.details : {}
  say(session, message)
  if (session.flags.json) tell(session, jsonText({ error: code, message, ...details }, session.house))
  return 1
}

const exitCodes = `
Exit codes: 0 success, 1 the call failed or the change was refused, 2 wrong usage or configuration, 3 not allowed, 4 not approved, or not yet.`
