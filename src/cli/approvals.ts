import type { Command } from "commander"
import { grantScopes } from "../model/rule.ts"
import { showItem } from "./answers.ts"
import { beginningWith, editInput, sayTo, type SayFlags } from "./approvals-say.ts"
import { watchDesk } from "./approvals-watch.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { readAnswer, readReplacement, splitPointers } from "./sayings.ts"
import { withApp } from "./session.ts"
import { clock, span } from "./since.ts"
import { CannotDo, idOf, listCommand, oneOf, repeated, severalBegin, UsageError } from "./usage.ts"

export function addApprovals(program: Command, run: Run): void {
  const desk = program.command("approvals").description("what waits for a person: calls, results and questions")
  const scopes = grantScopes.join(", ")
  listCommand(desk).action(run(listDesk))
  desk
    .command("show <id>")
    .description("the whole card of what waits; a unique beginning of its id is enough")
    .action(run(showCard))
  revised(desk.command("approve <id>").description("let a waiting call run"))
    .option("--remember <scope>", `also for later calls: ${scopes}`)
    .action(run(approve))
  revised(desk.command("edit <id> <json>").description("give a waiting call another input; it is shown again")).action(
    run(editInput),
  )
  revised(desk.command("reject <id>").description("say no to a waiting call or question"))
    .option("--reason <text>", "why; the model reads it")
    .option("--remember <scope>", `also for later calls: ${scopes}`)
    .action(run(reject))
  revised(desk.command("release <id>").description("let a held result go to the model"))
    .option("--redact <pointers>", "without what is at these JSON pointers: /a/b,/c; can be repeated", repeated)
    .option("--replace <value>", "with this in its place: JSON, or else text")
    .action(run(release))
  revised(desk.command("withhold <id>").description("keep a held result from the model"))
    .option("--reason <text>", "why; the model reads it")
    .action(run(withhold))
  revised(
    desk
      .command("answer <id> [text...]")
      .description("answer a question: a text, options by comma, a form as name=value … or one JSON object"),
  ).action(run(answer))
  desk.command("watch").description("show what comes to the desk, as it comes, until Ctrl-C").action(run(watchDesk))
}

function revised(command: Command): Command {
  return command.option(
    "--revision <number>",
    "count only for the revision you saw; a yes to a later one than the first needs it",
  )
}

function listDesk(session: Session): Promise<number> {
  const { agent } = session.flags
  return withApp(session, {}, async ({ desk }) => {
    const now = Date.now()
    await showList(
      session,
      await desk.list(agent === undefined ? {} : { agentId: agent }),
      [
        { title: "ID", of: ({ callId }) => callId, paint: "bold" },
        { title: "KIND", of: ({ kind }) => kind },
        { title: "AGENT", of: ({ agentId }) => agentId },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "WAITS", of: ({ createdAt }) => span(now - createdAt) },
        { title: "UNTIL", of: ({ until }) => (Number.isFinite(until) ? clock(until) : undefined), paint: "dim" },
      ],
      "Nothing waits for a person.",
      { whole: true },
    )
    return 0
  })
}

function showCard(session: Session, given: string): Promise<number> {
  const id = idOf(given)
  return withApp(session, {}, async ({ desk }) => {
    const item = await desk.show(id)
    if (item === undefined) throw nothingWaits(id, await beginningWith(desk, id))
    await showItem(session, item, { whole: true })
    return 0
  })
}

function approve(session: Session, id: string, flags: SayFlags & { remember?: string }): Promise<number> {
  const remember = oneOf("--remember", flags.remember, grantScopes)
  return sayTo(session, id, () => ({ say: "approve", remember }), flags)
}

function reject(session: Session, id: string, flags: SayFlags & { reason?: string; remember?: string }) {
  const remember = oneOf("--remember", flags.remember, grantScopes)
  return sayTo(session, id, () => ({ say: "reject", reason: flags.reason, remember }), flags)
}

function release(session: Session, id: string, flags: SayFlags & { redact?: string[]; replace?: string }) {
  const { redact, replace } = flags
  if (redact !== undefined && replace !== undefined) {
    throw new UsageError(
      "--redact takes parts out and --replace puts something in place of the whole. Use one of them.",
    )
  }
  const pointers = redact?.flatMap(splitPointers)
  const value = replace === undefined ? undefined : readReplacement(replace)
  return sayTo(session, id, () => ({ say: "release", redact: pointers, replace: value }), flags)
}

function withhold(session: Session, id: string, flags: SayFlags & { reason?: string }): Promise<number> {
  return sayTo(session, id, () => ({ say: "withhold", reason: flags.reason }), flags)
}

function answer(session: Session, id: string, words: readonly string[], flags: SayFlags): Promise<number> {
  return sayTo(session, id, (item) => ({ say: "answer", value: readAnswer(words, item?.question) }), flags)
}

function nothingWaits(id: string, several: readonly string[]): CannotDo {
  if (several.length > 0) return severalBegin(id, several)
  return new CannotDo("nothing_waits", `Nothing waits with the id '${id}'. 'qm approvals list' shows what does.`)
}
