import { Command, CommanderError, Help, type Option } from "commander"
import { OrganisationError } from "../org/organisation-admin.ts"
import { addAgents } from "./agents.ts"
import { addApprovals } from "./approvals.ts"
import { addAudit } from "./audit.ts"
import { addBackup } from "./backup.ts"
import { addCall } from "./call.ts"
import { addChat } from "./chat-command.ts"
import { addCheck } from "./check.ts"
import { addDemo } from "./demo.ts"
import { addDepartments } from "./departments.ts"
import { addDoctor } from "./doctor.ts"
import { examples } from "./examples.ts"
import { addExperiments } from "./experiments.ts"
import { addFreeze } from "./freeze.ts"
import { addGrants } from "./grants.ts"
import { addGroups } from "./groups.ts"
import { printableJson } from "../lib/printable.ts"
import type { Flags, Runtime, Io, Run, CliContext } from "./context.ts"
import { addInit } from "./init.ts"
import { addInstall } from "./install.ts"
import { refuseInsideTool } from "./inside-tool.ts"
import { addOpen } from "./open.ts"
import { addMcp } from "./mcp.ts"
import { addModels } from "./models.ts"
import { printMessage, printOutput } from "./output.ts"
import { addPeople } from "./people.ts"
import { addPin } from "./pin.ts"
import { addPipeline } from "./pipeline.ts"
import { addPlugins } from "./plugins.ts"
import { addRoles } from "./roles.ts"
import { addRules } from "./rules.ts"
import { addRun } from "./run.ts"
import { addServe } from "./serve.ts"
import { addStart } from "./start.ts"
import { addStatus } from "./status.ts"
import { addTokens } from "./tokens.ts"
import { addTools } from "./tools.ts"
import { addTrash } from "./trash.ts"
import { addTrust } from "./trust.ts"
import { asTyped, placeOptions } from "./typed-command.ts"
import {
  CannotDo,
  dashedParameter,
  parserSentence,
  repeated,
  unknownCommand,
  UsageError,
  withHelp,
  wordsOf,
} from "./usage.ts"
import { version } from "./version.ts"
import { addWhy } from "./why.ts"

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
  "Connect:": [addServe, addOpen, addTokens, addMcp, addInstall, addPlugins, addModels],
  "Look back:": [addAudit, addTrash, addBackup],
  "Set up:": [addInit, addCheck, addTrust, addDoctor],
}

/** Parses the command line, runs the command and resolves with the exit code. */
export async function runProgram(argv: readonly string[], io: Io, runtime: Runtime): Promise<number> {
  let code = 0
  const program = new Command("qm")
  const run: Run =
    (command) =>
    async (...args) => {
      const flags = { json: false, set: [], ...program.opts<Partial<Flags>>() }
      const context: CliContext = { io, runtime, flags }
      try {
        code = await command(context, ...args)
      } catch (error) {
        if (error instanceof UsageError) throw withHelp(error, args.at(-1) as Command)
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
      refuseInsideTool(io, command)
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
function addHelp(command: Command, argv: readonly string[]): void {
  command.addHelpText("after", () => {
    const lines = examples[wordsOf(command).slice(1).join(" ")] ?? []
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
