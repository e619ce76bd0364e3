import {
  isStillThere,
  type PendingItem,
  type AnswerResult,
  type Answer,
  type Remember,
  type Vote,
} from "../../core/approval.ts"
import type { SettledAnswer, CallRow } from "../../core/call.ts"
import { plainProblems } from "../../schema/json-problems.ts"
import { valueAtPointer, parseJsonPointer } from "../../lib/json-pointer.ts"
import { spanWords } from "../../lib/span-words.ts"
import { previewText } from "../../core/preview.ts"
import { shownTouches, viewOf } from "../card/view.ts"
import type { ApprovalPorts } from "./ports.ts"
import { voteText } from "../../core/vote-text.ts"
import { checkAnswer } from "./answer-value.ts"
import { inNativeNames } from "../../core/result.ts"
import { grantOf, describedGrant, rememberProblem } from "./grants.ts"
import { offeredRule } from "./offered-rule.ts"
import { redeemableUntil, storedRequest } from "../../store/stored-request.ts"
import { votingProblem } from "./voting-problem.ts"
import { writeAnswerForAbsentCaller } from "./write-answer.ts"
import { kindOf, verdictWord } from "./verdict-word.ts"

/** A stored call as approvers see it. */
export function pendingItem(row: CallRow, { tools, organisation }: ItemPorts): PendingItem {
  const { card } = row
  const { given, sessionId } = storedRequest(row)
  const tool = tools.resolve(row.tool, organisation.view(row.agentId))
  const item = {
    callId: row.id,
    kind: kindOf(row),
    agentId: row.agentId,
    role: card.role,
    roleMadeBy: card.roleMadeBy,
    ancestors: card.spawners,
    tool: row.tool,
    description: card.description,
    level: card.level,
    intent: given.intent,
    input: row.input === null ? undefined : (JSON.parse(row.input) as unknown),
    result: row.state === "held" && row.result !== null ? inNativeNames(row.result) : undefined,
    question: card.question,
    reasons: row.asks,
    touches: { list: shownTouches(card, tool), proved: card.touches.proved },
    commandParts: card.commandParts,
    ...(row.preview === null ? {} : { preview: previewText(row.preview), previewData: row.preview }),
    revision: row.revision,
    editedBy: card.editedBy,
    note: card.note,
    again: card.again,
    votes: row.votes,
    approvers: row.state === "held" ? [] : card.approvers,
    remember: row.state === "held" ? [] : card.remember.map((scope) => describedGrant(row, scope)),
    rule: offeredRule(row),
    taskId: given.taskId,
    userId: given.userId,
    sessionId,
    createdAt: row.createdAt,
    until: row.deadline ?? Infinity,
  }
  return viewOf(item, tool)
}

type ItemPorts = Pick<ApprovalPorts, "tools" | "organisation">

/**
 * Stores a person's answer in the row of a waiting call. The process that has the call reads it there and continues. The
 * answer counts for the revision that the person saw.
 */
export async function answerPending(
  callId: string,
  answer: Answer,
  by: string,
  ports: ApprovalPorts,
  revision?: number,
  via?: "link",
): Promise<AnswerResult> {
  for (;;) {
    const row = await ports.calls.get(callId)
    if (row === undefined) return no(`No call '${callId}' waits. 'qm approvals list' shows what does.`)
    if (row.state !== "waiting" && row.state !== "held") return no(goneSentence(row))
    if (row.deadline !== null && row.deadline <= ports.now())
      return no("Nobody answered in time, so it does not wait any more.")
    if (revision !== undefined && revision !== row.revision) {
      return no(`It has changed since you saw it: this is revision ${row.revision} now. Look at it again, then answer.`)
    }
    const counted = withWay(countAnswer(row, answer, by, ports), via)
    if ("refused" in counted) return no(counted.refused)
    // Somebody else answered at the same moment: read the row again.
    if (!(await ports.calls.recordAnswer(callId, { revision: row.revision, votes: row.votes }, counted))) continue
    const { answer: settled } = counted
    const owner = (await wasLeft(callId, ports)) ? "" : row.owner
    const callerWaits = owner !== "" && (await ports.isAlive(owner))
    if (settled === null) await noteVote(row, counted.votes.at(-1)!, ports)
    else if (!callerWaits) await writeAnswerForAbsentCaller({ ...row, owner }, settled, ports)
    const { remember, minutes }: Remember = answer.kind === "approve" || answer.kind === "reject" ? answer : {}
    const grant =
      settled === null || remember === undefined
        ? undefined
        : grantOf(row, { ...settled, since: ports.personSince(by) ?? null }, remember, minutes)
    if (grant !== undefined) await ports.grants.save(grant)
    const agentGoesOn = await ports.resumesAutomatically(row.sessionId)
    if (settled !== null)
      ports.emit({ type: "TOOL_CALL_ANSWERED", at: ports.now(), callId, toolName: row.tool, agentId: row.agentId, by })
    const next = nextStep(row, counted, { callerWaits, agentGoesOn }, ports)
    return { ok: true, done: settled !== null, ...next, ...(grant && { grant }) }
  }
}

/** Reports whether the caller stopped waiting just before the answer was stored. */
async function wasLeft(callId: string, ports: ApprovalPorts): Promise<boolean> {
  const row = await ports.calls.get(callId)
  return row?.owner === "" && row.state !== "ended"
}

/** Writes a vote to the audit log that does not settle the call yet. The settling one is written by the call's process, if it lives. */
async function noteVote(row: CallRow, { by, note }: Vote, ports: ApprovalPorts): Promise<void> {
  const { id: callId, agentId, tool, revision } = row
  const ids = { callId, agentId, tool, by }
  const text = ports.masker.text(voteText(revision, note))
  await ports.recorder.write({ kind: "answered", at: ports.now(), ...ids, text }, ports.settings.durability)
}

/** The changes of an answer in the row. */
interface CountedAnswer {
  votes: readonly Vote[]
  /** Null while more people must agree. */
  answer: SettledAnswer | null
}

function withWay<Counted extends CountedAnswer | { refused: string }>(counted: Counted, via: "link" | undefined) {
  if (via === undefined || "refused" in counted || counted.answer === null) return counted
  return { ...counted, answer: { ...counted.answer, via } }
}

/** Returns the changes of an answer in the row, or why it does not count. Changes nothing itself. */
function countAnswer(
  row: CallRow,
  answer: Answer,
  by: string,
  ports: ApprovalPorts,
): CountedAnswer | { refused: string } {
  const kind = kindOf(row)
  const possible = answersTo[kind]
  if (!possible.includes(answer.kind)) {
    return { refused: `A waiting ${kind} is answered with one of: ${possible.join(", ")}.` }
  }
  if (ports.isAgent(by)) return { refused: `'${by}' is an agent, and only a person answers.` }
  const at = ports.now()
  const settled = (fields: Omit<SettledAnswer, "by" | "at">): CountedAnswer => ({
    votes: row.votes,
    answer: { ...fields, by, at },
  })
  switch (answer.kind) {
    case "approve":
      return vote(row, by, answer, ports)
    case "edit": {
      const problem = plainProblem("The input", answer.input)
      return problem === undefined ? settled({ approved: false, edit: { input: answer.input } }) : { refused: problem }
    }
    case "reject": {
      const problem = rememberProblem(row, answer)
      return problem === undefined ? settled({ approved: false, rejectReason: answer.reason }) : { refused: problem }
    }
    case "withhold":
      return settled({ approved: false, rejectReason: answer.reason })
    case "release": {
      const replaced = answer.replace === undefined ? undefined : plainProblem("The value", answer.replace)
      const problem = replaced ?? redactProblem(row, answer.redact)
      if (problem !== undefined) return { refused: problem }
      const { answer: released } = settled({
        approved: true,
        redact: answer.redact,
        replace: answer.replace === undefined ? undefined : { value: answer.replace },
      })
      return { votes: [newVote(by, undefined, ports)], answer: released }
    }
    case "answer": {
      const checked = checkAnswer(row.card.question, answer.value)
      return "wrong" in checked ? { refused: checked.wrong } : vote(row, by, {}, ports, checked.value)
    }
  }
}

const answersTo: Record<PendingItem["kind"], readonly Answer["kind"][]> = {
  call: ["approve", "edit", "reject"],
  result: ["release", "withhold"],
  question: ["answer", "reject"],
}

/** In characters. */
const longestNote = 2000

/** Counts one more approval or answer to a question. Without a quorum the first settles the call; with one, the last. */
function vote(
  row: CallRow,
  by: string,
  given: Remember & { note?: string },
  ports: ApprovalPorts,
  value?: SettledAnswer["value"],
): CountedAnswer | { refused: string } {
  const { approvers, remember: offered } = row.card
  const { remember } = given
  const at = ports.now()
  const problem = rememberProblem(row, given)
  if (problem !== undefined) return { refused: problem }
  if (remember !== undefined && !offered.includes(remember)) {
    const instead = offered.length === 0 ? "Approve it once." : `Choose one of: ${offered.join(", ")}.`
    return { refused: `This yes cannot be remembered as '${remember}'. ${instead}` }
  }
  const { userId } = storedRequest(row).given
  const earlier = standingVotes(row, ports)
  const notCounted = votingProblem({ approvers, votes: earlier, userId }, by, ports)
  if (notCounted !== undefined) return { refused: notCounted }
  const votes: Vote[] = [...earlier, newVote(by, given.note, ports)]
  return {
    votes,
    answer:
      missing(row, votes, ports) === 0 ? { approved: true, by: names(votes), at, value, note: notes(votes) } : null,
  }
}

function newVote(by: string, note: string | undefined, ports: ApprovalPorts): Vote {
  const said = note?.trim().slice(0, longestNote) ?? ""
  const vote = { by, at: ports.now(), since: ports.personSince(by) ?? null }
  return said === "" ? vote : { ...vote, note: said }
}

/** The votes that count: those of people who were removed since do not. */
export function standingVotes({ votes }: Pick<CallRow, "votes">, { personSince }: ApprovalPorts): readonly Vote[] {
  return votes.filter((each) => isStillThere(each, personSince))
}

/** The people who approved a stored call, or released its result, and were removed since. */
export function removedApprovers({ votes }: Pick<CallRow, "votes">, { personSince }: ApprovalPorts): readonly string[] {
  return votes.filter((each) => !isStillThere(each, personSince)).map(({ by }) => by)
}

/** Counts the people who must still agree. All unknown names together count as one person without a role. */
function missing(row: CallRow, votes: readonly Vote[], ports: ApprovalPorts): number {
  const people = new Set(votes.map(({ by }) => (ports.rolesOf(by) === undefined ? "" : by)))
  const lacking = row.card.approvers.map(({ role, count }) => {
    const fitting = [...people].filter((by) => role === undefined || ports.rolesOf(by)?.includes(role))
    return Math.max(0, count - fitting.length)
  })
  return Math.max(0, ...lacking)
}

/** Refuses pointers that match nothing: the result would be released without the redaction the person wanted. */
function redactProblem(row: CallRow, redact: readonly string[] | undefined): string | undefined {
  if (redact === undefined || redact.length === 0) return undefined
  if (row.result?.success !== true)
    return "Only parts of a result can be taken out, and this is an error. Replace it or withhold it."
  const wrong = redact.find((pointer) => {
    const steps = parseJsonPointer(pointer)
    return steps === undefined || valueAtPointer(row.result?.result, steps) === undefined
  })
  return wrong === undefined
    ? undefined
    : `There is nothing at '${wrong}' in the result. Name a place as a JSON pointer, such as /rows/0/name.`
}

/** Refuses values that are not JSON, because the store would change them. */
function plainProblem(what: string, value: unknown): string | undefined {
  const problems = value === undefined ? ["nothing was given"] : plainProblems(value)
  return problems.length === 0 ? undefined : `${what} cannot be stored: ${problems.join(", ")}. Give plain JSON.`
}

/** Says what comes next: in a sentence, and for programs. */
function nextStep(
  row: CallRow,
  { votes, answer }: CountedAnswer,
  { callerWaits, agentGoesOn }: { callerWaits: boolean; agentGoesOn: boolean },
  ports: ApprovalPorts,
): Pick<Extract<AnswerResult, { ok: true }>, "code" | "params" | "sentence"> {
  if (answer === null) {
    const count = missing(row, votes, ports)
    return { code: "answer_counted", params: { count }, sentence: `Counted. ${count} more must agree.` }
  }
  const minutes = Math.round((redeemableUntil({ ...row, answer }) - answer.at) / 60_000)
  const within = `within ${spanWords(minutes * 60_000)}`
  if (answer.edit !== undefined) {
    const soon = callerWaits || agentGoesOn
    const when = soon ? "" : ` when its caller comes back for it, ${within}`
    const sentence = `It is checked and decided again${when}, and then waits here as a new revision.`
    return { code: soon ? "answer_edited" : "answer_edited_later", params: { minutes }, sentence }
  }
  const verdict = verdictWord(row, answer)
  if (callerWaits || !answer.approved) return { code: "answer_settled", params: { verdict }, sentence: `${verdict}.` }
  const params = { verdict, minutes, tool: row.tool, agent: row.agentId }
  if (agentGoesOn) {
    const sentence = `${verdict}. ${row.agentId} goes on by itself while 'qm serve' runs; if it does not, start it ${within}.`
    return { code: "answer_agent", params, sentence }
  }
  if (row.wanted) {
    const sentence = `${verdict}. It goes on when its caller asks for the result, ${within}.`
    return { code: "answer_fetch", params, sentence }
  }
  const sentence = `${verdict}. The process that made the call is gone: make the same call again ${within}, and it goes on.`
  return { code: "answer_call_again", params, sentence }
}

function goneSentence(row: CallRow): string {
  const { answer } = row
  if (answer === null) return `Call ${row.id} does not wait any more; it is ${row.state}.`
  const what = answer.edit === undefined ? (answer.approved ? "yes" : "no") : "another input"
  return `${answer.by} has answered already: ${what}.`
}

function names(votes: readonly Vote[]): string {
  return votes.map(({ by }) => by).join(", ")
}

/** The notes of everybody who agreed. */
function notes(votes: readonly Vote[]): string | undefined {
  const said = votes.flatMap(({ note }) => note ?? [])
  return said.length === 0 ? undefined : said.join("\n")
}

function no(sentence: string): AnswerResult {
  return { ok: false, sentence }
}
