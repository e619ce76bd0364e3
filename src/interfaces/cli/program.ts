import { CommanderError, Help, type Option } from "commander"
import { OrganisationError } from "../../org/organisation-admin.ts"
import { addAgents } from "./commands/agents/agents.ts"
import { addApprovals } from "./commands/approvals/approvals.ts"
import { addAudit } from "./commands/audit/audit.ts"
import { addBackup } from "./commands/backup/backup.ts"
import { addCall } from "./commands/call/call.ts"
import { addChat } from "./commands/chat/chat-command.ts"
import { addClients } from "./commands/install/clients.ts"
import { addCheck } from "./commands/config/check.ts"
import { addDemo } from "./commands/demo/demo.ts"
import { addDepartments } from "./commands/org/departments.ts"
import { addDoctor } from "./commands/doctor/doctor.ts"
import { CliCommand } from "./common/cli-command.ts"
import { addExperiments } from "./commands/tools/experiments.ts"
import { addFreeze } from "./commands/org/freeze.ts"
import { addGrants } from "./commands/approvals/grants.ts"
import { addGroups } from "./commands/tools/groups.ts"
import { printableJson } from "../../lib/printable.ts"
import type { Flags, Runtime, Io, Run, CliContext } from "./common/context.ts"
import { addHook } from "./commands/hook/hook.ts"
import { addInit } from "./commands/config/init.ts"
import { addInstall } from "./commands/install/install.ts"
import { refuseInsideTool } from "./common/inside-tool.ts"
import { addOpen } from "./commands/serve/open.ts"
import { addMcp } from "./commands/mcp/mcp.ts"
import { addModels } from "./commands/models/models.ts"
import { printMessage, printOutput } from "./common/output.ts"
import { addPeople } from "./commands/org/people.ts"
import { addPin } from "./commands/approvals/pin.ts"
import { addPipeline } from "./commands/pipeline/pipeline.ts"
import { addPlugins } from "./commands/plugins/plugins.ts"
import { addRoles } from "./commands/org/roles.ts"
import { addRules } from "./commands/rules/rules.ts"
import { addRun } from "./commands/run/run.ts"
import { addStop } from "./commands/serve/background.ts"
import { addServe } from "./commands/serve/serve.ts"
import { addStart } from "./commands/config/start.ts"
import { addStatus } from "./commands/config/status.ts"
import { addTokens } from "./commands/org/tokens.ts"
import { addTools } from "./commands/tools/tools.ts"
import { addTrash } from "./commands/backup/trash.ts"
import { addTrust } from "./commands/config/trust.ts"
import { asTyped, placeOptions } from "./common/typed-command.ts"
import {
  CannotDo,
  dashedParameter,
  parserSentence,
  repeated,
  unknownCommand,
  UsageError,
  withHelp,
} from "./common/usage.ts"
import { version } from "./common/version.ts"
import { addWhy } from "./commands/call/why.ts"

/** The commands as the help lists them: by what a person wants to do. */
const commandGroups = {
  "Try it:": [addDemo, addStart, addChat, addRun, addPipeline, addCall, addWhy],
  "Answer what waits:": [addApprovals, addPin, addGrants],
  "Govern:": [
    addRules,
    addTools,
    addGroups,
    addRoles,
    addAgents,
    addDepartments,
    addPeople,
    addFreeze,
    addStatus,
    addExperiments,
  ],
  "Connect:": [addServe, addStop, addOpen, addTokens, addMcp, addInstall, addClients, addHook, addPlugins, addModels],
  "Look back:": [addAudit, addTrash, addBackup],
  "Set up:": [addInit, addCheck, addTrust, addDoctor],
}

/** Parses the command line, runs the command and resolves with the exit code. */
export async function runProgram(argv: readonly string[], io: Io, runtime: Runtime): Promise<number> {
  let code = 0
  const program = new CliCommand("qm").example("qm demo", "qm call base64_encode text=hello")
  const run: Run =
    (command) =>
    async (...args) => {
      const flags = { json: false, set: [], ...program.opts<Partial<Flags>>() }
      const context: CliContext = { io, runtime, flags }
      try {
        code = await command(context, ...args)
      } catch (error) {
        if (error instanceof UsageError) throw withHelp(error, args.at(-1) as CliCommand)
        if (!(error instanceof OrganisationError || error instanceof CannotDo)) throw error
        code = refused(context, error)
      }
    }
  program
    .description("Runs tools for LLM agents: checks permissions, asks people for approval, and logs every call.")
    .option("--json", "print JSON instead of text")
    .option("--agent <id>", "the agent to call or look as; in lists, show only this agent's entries")
    .option("--as <person>", "the person who answers and makes changes (default: the user of this machine)")
    .option(
      "--config <file>",
      "configuration file (default: quartermaster.yml in this folder or the nearest one above)",
    )
    .option("--data <dir>", "folder for the database and the audit log (default: .quartermaster beside it)")
    .option("--set <key=value>", "set a configuration key, for example tools.timeout=5000; can be repeated", repeated)
    .option("-C <folder>", "run as if started in this folder; must come before everything else")
    .option("-V, --version", "print the version")
    .on("option:C", () => {
      throw new UsageError("-C must come first: qm -C <folder> <command>.")
    })
    .on("option:version", () => {
      io.stdout.write(`${version()}\n`)
      throw new CommanderError(0, "version", "")
    })
    .on("command:*", ([word = ""]: string[]) => {
      throw unknownCommand(word, program)
    })
    .helpOption("-h, --help", "show help")
    .configureHelp({
      showGlobalOptions: true,
      optionDescription: (option) => (option.mandatory ? `${option.description} (required)` : describeOption(option)),
    })
    .configureOutput({ writeOut: (text) => io.stdout.write(asTyped({ typed: io.typed }, text)), writeErr: () => {} })
    .addHelpText("after", exitCodes)
    .hook("preAction", (_, command) => {
      io.typedOptions = [...(io.typedOptions ?? []), ...placeOptions(program.opts<Partial<Flags>>())]
      refuseInsideTool(io, command as CliCommand)
    })
  for (const [heading, adds] of Object.entries(commandGroups)) {
    program.commandsGroup(heading)
    for (const add of adds) add(program, run)
  }
  program.helpCommand("help [command]", "show help")
  addHelp(program, argv)

  if (argv.length === 0) program.outputHelp()
  else await program.parseAsync([...argv], { from: "user" })
  return code
}

const describeOption = (option: Option) => new Help().optionDescription(option)

/** Gives every command examples in its help, and its wrong usage a sentence that leads there. */
function addHelp(command: CliCommand, argv: readonly string[]): void {
  command.addHelpText("after", () => {
    // A command above others shows the first of theirs.
    const own = command.examples
    const lines = own.length > 0 ? own : command.commands.flatMap(({ examples }) => examples.slice(0, 1)).slice(0, 2)
    return `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.map((line) => `  ${line}`).join("\n")}`
  })
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw error
    const sentence = dashedParameter(error.message, argv, command) ?? parserSentence(error.message)
    throw withHelp(new UsageError(sentence), command)
  })
  for (const inner of command.commands) addHelp(inner, argv)
}

/** Prints why a command was refused: a sentence on stderr, and with --json an object with its code. */
function refused(context: CliContext, error: OrganisationError | CannotDo): number {
  const { code, message } = error
  const details = error instanceof OrganisationError ? error.details : {}
  printMessage(context, message)
  if (context.flags.json) printOutput(context, printableJson({ error: code, message, ...details }))
  return code.startsWith("invalid_") ? 2 : 1
}

const exitCodes = `
Exit codes:
  0  success
  1  failed
  2  wrong usage: an option, a parameter or the configuration is wrong
  3  not allowed
  4  not approved, or not yet`
