import type { CliCommand } from "../../common/cli-command.ts"
import { askSecrets, readLine } from "../../common/ask-secret.ts"
import type { CliContext, Io, Run } from "../../common/context.ts"
import { isAttended, withPerson } from "../../common/open-app.ts"
import { printResult } from "../../common/output.ts"
import { CannotDo, UsageError } from "../../common/usage.ts"

export function addPin(program: CliCommand, run: Run): void {
  const pin = program
    .command("pin")

    .description("set or clear your PIN for answers from links; medium risk needs it")
  pin
    .command("set")
    .example("qm pin set", "qm pin set --as li --stdin < pin.txt")
    .description("set your PIN, or that of --as: at least 6 digits, asked twice and not shown")
    .option("--stdin", "read it from the first line of stdin")
    .action(run(setPin))
  pin.command("clear").example("qm pin clear").description("clear your PIN, or that of --as").action(run(clearPin))
}

function setPin(context: CliContext, flags: { stdin?: boolean }): Promise<number> {
  if (flags.stdin !== true && !isAttended(context.io))
    throw new UsageError("There is no terminal to ask for the PIN. Send it on stdin and add --stdin.")
  return withPerson(context, async ({ pins }, { id: person }) => {
    await pins.set(person, flags.stdin === true ? await readLine(context.io) : await askTwice(context.io), person)
    const text = `The PIN of ${person} is set. Answer links ask for it where the risk is medium.`
    printResult(context, { person, pin: true }, text)
    return 0
  })
}

async function askTwice(io: Io): Promise<string> {
  const [pin = "", again] = await askSecrets(io, ["PIN (at least 6 digits, not shown):", "The same PIN again:"])
  if (pin === again) return pin
  throw new CannotDo("pins_differ", "The two PINs differ, so nothing was changed. Run 'qm pin set' again.")
}

function clearPin(context: CliContext): Promise<number> {
  return withPerson(context, async ({ pins }, { id: person }) => {
    const cleared = await pins.clear(person, person)
    const text = cleared
      ? `The PIN of ${person} is cleared. From links they approve only what has low risk.`
      : `${person} has no PIN.`
    printResult(context, { person, pin: false }, text)
    return 0
  })
}
