import { Command, CommanderError } from "commander"
import { addAudit } from "./audit.ts"
import { addCall } from "./call.ts"
import { addDoctor } from "./doctor.ts"
import { addGroups } from "./groups.ts"
import type { Flags, House, Io, Run } from "./house.ts"
import { addInit } from "./init.ts"
import { addStart } from "./start.ts"
import { addTools } from "./tools.ts"
import { addTrust } from "./trust.ts"
import { unknownCommand } from "./usage.ts"

const commands = [addCall, addTools, addGroups, addAudit, addInit, addTrust, addDoctor, addStart]

/** Reads the command line, runs the command it names and resolves with the exit code. */
export async function runProgram(argv: readonly string[], io: Io, house: House): Promise<number> {
  let code = 0
  const program = new Command("qm")
  const run: Run =
    (work) =>
    async (...given) => {
      const flags = { json: false, set: [], ...program.opts<Partial<Flags>>() }
      code = await work({ io, house, flags }, ...given)
    }
  program
    .description("Hands LLM agents their tools: decides, limits, asks and records every call.")
    .option("--json", "print JSON instead of text")
    .option("--agent <id>", "the agent that calls or looks; in audit, whose calls")
    .option("--config <file>", "the configuration file, instead of the one in this folder")
    .option("--data <dir>", "the folder where the record is kept")
    .option("--set <key=value>", "set a key of the configuration; can be repeated", repeated)
    .option("-V, --version", "print the version")
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
    .exitOverride()
  for (const add of commands) add(program, run)

  if (argv.length === 0) program.outputHelp()
  else await program.parseAsync([...argv], { from: "user" })
  return code
}

function repeated(value: string, before: string[] = []): string[] {
  return [...before, value]
}

const exitCodes = `
Exit codes: 0 success, 1 the call failed, 2 wrong usage or configuration, 3 not allowed, 4 not approved.`
