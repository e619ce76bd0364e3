import type { CliCommand } from "../../common/cli-command.ts"
import { canAnswerHere } from "../approvals/answer-at-terminal.ts"
import type { ChatFlags } from "./start-chat.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { UsageError } from "../../common/usage.ts"

export function addChat(program: CliCommand, run: Run): void {
  program
    .command("chat")
    .example("qm chat --agent dev", "qm chat --resume", "qm chat --document notes.md")
    .description("talk with an agent, which uses its tools and asks you for approval")
    .option("--model <name>", "the model (default: that of the agent's role, or models.default)")
    .option("--resume [id]", "go on with a conversation (default: choose one of your last ones)")
    .option(
      "--document <file>",
      "talk in a Markdown file of the workspace, in your editor; Enter here sends what you wrote",
    )
    .action(run(chat))
}

async function chat(context: CliContext, flags: ChatFlags): Promise<number> {
  if (!canAnswerHere(context))
    throw new UsageError("There is no terminal to talk in. In a script use 'qm run', which takes the task as words.")
  if (flags.document !== undefined && flags.resume !== undefined)
    throw new UsageError("A document knows its conversation. Leave --resume out.")
  if (flags.document !== undefined) {
    const { startDocument } = await import("./start-document.ts")
    return startDocument(context, { ...flags, document: flags.document })
  }
  const { startChat } = await import("./start-chat.ts")
  return startChat(context, flags)
}
