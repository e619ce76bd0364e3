import type { CliCommand } from "../../common/cli-command.ts"
import { rememberFlag, rememberWords } from "./remember-flag.ts"
import { showPendingItem } from "./show-pending.ts"
import { ambiguousPendingIds, editInput, submitAnswer, type AnswerFlags } from "./approvals-answer.ts"
import { linkPending } from "./approvals-link.ts"
import { byKeyWithoutId } from "./approvals-by-key.ts"
import { watchApprovals } from "./approvals-watch.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { listPending } from "./approvals-list.ts"
import { readAnswer, readReplacement, splitPointers } from "./read-answer.ts"
import { withApp } from "../../common/open-app.ts"
import { parseTimeAhead } from "../../common/time-text.ts"
import { CannotDo, requireId, listCommand, repeated, ambiguousId, NotAllowed, UsageError } from "../../common/usage.ts"

export function addApprovals(program: CliCommand, run: Run): void {
  const approvals = program
    .command("approvals")

    .description("list and answer what waits for a person: calls, results and questions")
    .addHelpText("after", "\nIn a terminal, a command that answers needs no id: it shows what waits and takes a key.")
  const scopes = rememberWords.join(", ")
  listCommand(approvals, "what waits for a person").example("qm approvals list --agent dev").action(run(listPending))
  approvals
    .command("show <id>")
    .example("qm approvals show 01a1e1a9")
    .description("show one in full; the first characters of its id are enough")
    .action(run(showPending))
  revised(
    approvals
      .command("approve [id]")
      .example("qm approvals approve", "qm approvals approve 01a1e1a9 --remember tool-session")
      .description("approve a waiting call, so that it runs"),
  )
    .option("--note <text>", "what the model should know; it reads it with the result")
    .option("--remember <scope>", `use the same answer for later calls: ${scopes}`)
    .option("--rule <duration>", "also add the rule that the card offers, for example for 8h or 30d; not with --as")
    .action(run(byKeyWithoutId(["call"], approve)))
  revised(
    approvals
      .command("edit [id] [json]")
      .example(`qm approvals edit 01a1e1a9 '{"path":"notes.md","content":"hello"}'`)
      .description("change the input of a waiting call; it is checked again and shown"),
  ).action(run(byKeyWithoutId(["call"], editInput)))
  revised(
    approvals
      .command("reject [id]")
      .example("qm approvals reject 01a1e1a9 --reason 'Write to docs/ instead.'")
      .description("reject a waiting call or question"),
  )
    .option("--reason <text>", "reason; the model reads it")
    .option("--remember <scope>", `use the same answer for later calls: ${scopes}`)
    .action(run(byKeyWithoutId(["call", "question"], reject)))
  revised(
    approvals
      .command("release [id]")
      .example("qm approvals release 01a1e1a9 --redact /password")
      .description("release a held result to the model"),
  )
    .option(
      "--redact <pointers>",
      "remove the values at these JSON pointers, for example /a/b,/c; can be repeated",
      repeated,
    )
    .option("--replace <value>", "replace the whole result with this JSON or text")
    .action(run(byKeyWithoutId(["result"], release)))
  revised(
    approvals
      .command("withhold [id]")
      .example("qm approvals withhold 01a1e1a9")
      .description("withhold a held result from the model"),
  )
    .option("--reason <text>", "reason; the model reads it")
    .action(run(byKeyWithoutId(["result"], withhold)))
  revised(
    approvals
      .command("answer [id] [text...]")
      .example("qm approvals answer 01a1e1a9 yes")
      .description("answer a question: text, comma-separated options, or a form as name=value … or one JSON object"),
  ).action(run(byKeyWithoutId(["question"], answer)))
  approvals
    .command("link <id>")
    .example("qm approvals link 01a1e1a9", "qm approvals link 01a1e1a9 --as li")
    .description("print a link that answers it from a phone, as you or as --as: once, for 15 minutes, by its risk")
    .action(run(linkPending))
  approvals
    .command("watch")
    .example("qm approvals watch")
    .description("show what waits and answer it here, as it arrives, until Ctrl-C")
    .action(run(watchApprovals))
}

function revised(command: CliCommand): CliCommand {
  return command.option("--revision <number>", "the revision you saw; required to approve or release after a change")
}

function showPending(context: CliContext, given: string): Promise<number> {
  const id = requireId(given)
  return withApp(context, { readOnly: true }, async ({ approvals }) => {
    const item = await approvals.show(id)
    if (item === undefined) throw nothingWaits(id, await ambiguousPendingIds(approvals, id))
    await showPendingItem(context, item, { whole: true })
    return 0
  })
}

function approve(
  context: CliContext,
  id: string,
  flags: AnswerFlags & { note?: string; remember?: string; rule?: string },
): Promise<number> {
  if (flags.rule !== undefined) return approveWithRule(context, id, flags.rule, flags)
  const remember = rememberFlag(flags.remember)
  return submitAnswer(context, id, () => ({ kind: "approve", note: flags.note, ...remember }), flags)
}

/** Only for the user of this machine: a rule lasts longer than an answer, and anyone named by a token may answer. */
function approveWithRule(
  context: CliContext,
  id: string,
  duration: string,
  flags: AnswerFlags & { remember?: string },
): Promise<number> {
  if (flags.remember !== undefined)
    throw new UsageError(
      "--remember is for tools that are not sensitive and --rule for those that are. Use one of them.",
    )
  if (context.flags.as !== undefined)
    throw new NotAllowed("--rule is for the user of this machine. Leave out --as, or approve without --rule.")
  const expiresAt = parseTimeAhead(duration, Date.now(), "--rule")
  return submitAnswer(context, id, () => ({ kind: "approve" }), flags, expiresAt)
}

function reject(context: CliContext, id: string, flags: AnswerFlags & { reason?: string; remember?: string }) {
  const remember = rememberFlag(flags.remember)
  return submitAnswer(context, id, () => ({ kind: "reject", reason: flags.reason, ...remember }), flags)
}

function release(context: CliContext, id: string, flags: AnswerFlags & { redact?: string[]; replace?: string }) {
  const { redact, replace } = flags
  if (redact !== undefined && replace !== undefined) {
    throw new UsageError("--redact removes parts and --replace replaces the whole result. Use one of them.")
  }
  const pointers = redact?.flatMap(splitPointers)
  const value = replace === undefined ? undefined : readReplacement(replace)
  return submitAnswer(context, id, () => ({ kind: "release", redact: pointers, replace: value }), flags)
}

function withhold(context: CliContext, id: string, flags: AnswerFlags & { reason?: string }): Promise<number> {
  return submitAnswer(context, id, () => ({ kind: "withhold", reason: flags.reason }), flags)
}

function answer(context: CliContext, id: string, words: readonly string[], flags: AnswerFlags): Promise<number> {
  return submitAnswer(
    context,
    id,
    async (item) => ({ kind: "answer", value: await readAnswer(words, item?.question) }),
    flags,
  )
}

function nothingWaits(id: string, several: readonly string[]): CannotDo {
  if (several.length > 0) return ambiguousId(id, several)
  return new CannotDo("nothing_waits", `Nothing waits with the id '${id}'. 'qm approvals list' shows what waits.`)
}
