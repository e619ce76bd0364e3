import { callbackAdapter } from "../../approvals/ask/callback.ts"
import { textAdapter, type Chat } from "../../approvals/ask/chat.ts"
import { terminalAdapter, type Terminal } from "../../approvals/ask/terminal.ts"
import { viewOf } from "../../approvals/card/view.ts"
import { newId } from "../../lib/new-id.ts"
import type {
  ApprovalRequest,
  ApprovalUIAdapter as CoreAdapter,
  ExecutionDecision,
  ResultDecision,
} from "../../core/approval.ts"
import type { ToolPermissionLevel } from "../../core/permission.ts"
import type { ToolResult } from "../../core/result.ts"
import { DocumentFile } from "./document-file.ts"
import { executeResult, type ToolExecuteResult } from "./result.ts"

type Input = Record<string, unknown>

/** Asks before a tool runs. */
export type UserApprovalCallback = (
  toolName: string,
  toolDescription: string,
  args: Input,
  permissionLevel: ToolPermissionLevel,
) => boolean | ExecutionDecision | Promise<boolean | ExecutionDecision>

/** Asks before a result goes to the model. */
export type ResultApprovalCallback = (
  toolName: string,
  args: Input,
  result: ToolExecuteResult,
) => boolean | ResultDecision | Promise<boolean | ResultDecision>

/** Asks a person. `request` is what we add: everything on the card, and a signal that closes the dialog. */
export interface ApprovalUIAdapter {
  showToolExecutionApproval(
    toolName: string,
    toolDescription: string,
    args: unknown,
    permissionLevel: ToolPermissionLevel,
    request?: ApprovalRequest,
  ): Promise<ExecutionDecision>
  showToolResultApproval(
    toolName: string,
    args: unknown,
    result: ToolExecuteResult,
    request?: ApprovalRequest,
  ): Promise<ResultDecision>
}

/** An adapter of ours from an adapter of S1. */
export function coreAdapter(adapter: ApprovalUIAdapter): CoreAdapter {
  return {
    showToolExecutionApproval: (...asked) => adapter.showToolExecutionApproval(...asked),
    showToolResultApproval: (toolName, args, result, request) =>
      adapter.showToolResultApproval(toolName, args, executeResult(result), request),
  }
}

export function adapterOfCallbacks(
  onExecution: UserApprovalCallback | undefined,
  onResult: ResultApprovalCallback | undefined,
): CoreAdapter {
  return callbackAdapter({
    ...(onExecution && {
      onExecution: ({ tool, description, args, level }) => onExecution(tool, description, args as Input, level),
    }),
    ...(onResult && { onResult: ({ tool, args, result }) => onResult(tool, args as Input, executeResult(result)) }),
  })
}

/** An adapter of ours as a class of S1. Asked without a call, it shows what it is given. */
class CoreUIAdapter implements ApprovalUIAdapter {
  readonly #adapter: CoreAdapter

  constructor(adapter: CoreAdapter) {
    this.#adapter = adapter
  }

  showToolExecutionApproval(
    toolName: string,
    toolDescription: string,
    args: unknown,
    permissionLevel: ToolPermissionLevel,
    request?: ApprovalRequest,
  ): Promise<ExecutionDecision> {
    const given = { kind: "call" as const, tool: toolName, description: toolDescription, input: args }
    const shown = request ?? requestOf({ ...given, level: permissionLevel })
    return this.#named(this.#adapter.showToolExecutionApproval(toolName, toolDescription, args, permissionLevel, shown))
  }

  showToolResultApproval(
    toolName: string,
    args: unknown,
    result: ToolExecuteResult,
    request?: ApprovalRequest,
  ): Promise<ResultDecision> {
    const ended = request?.result ?? resultToShow(toolName, result)
    const given = { kind: "result" as const, tool: toolName, description: "", input: args }
    const shown = request ?? requestOf({ ...given, level: "public", result: ended })
    return this.#named(this.#adapter.showToolResultApproval(toolName, args, ended, shown))
  }

  async #named<Decision extends ResultDecision | ExecutionDecision>(deciding: Promise<Decision>): Promise<Decision> {
    const decision = await deciding
    return { ...decision, by: decision.by ?? this.#adapter.by }
  }
}

type Given = Pick<ApprovalRequest, "kind" | "tool" | "description" | "level" | "input" | "result">

/** The request of an adapter that is asked without a call. It is not known what the tool touches. */
function requestOf(given: Given): ApprovalRequest {
  const item = viewOf({ ...withoutCall, ...given, callId: newId() }, undefined)
  return { ...item, signal: new AbortController().signal }
}

const withoutCall = {
  agentId: "",
  role: "",
  ancestors: [],
  reasons: [],
  touches: { list: [], proved: true },
  revision: 1,
  votes: [],
  approvers: [],
  remember: [],
  sessionId: "",
  createdAt: 0,
  until: Infinity,
}

function resultToShow(toolName: string, { status, data, error }: ToolExecuteResult): ToolResult {
  const ended = { callId: "", toolName, version: "", startedAt: 0, status, success: status === "success" }
  return { ...ended, ...(status === "success" ? { result: data } : { error, result: data }) } as ToolResult
}

/** Asks in the terminal. Where there is none, calls are rejected and results withheld. */
export class DefaultUIAdapter extends CoreUIAdapter {
  constructor(terminal: Terminal = { input: process.stdin, output: process.stderr }) {
    super(terminalAdapter(terminal))
  }
}

/** Asks inside a chat, with a card of plain text for each call. */
export class ChatUIAdapter extends CoreUIAdapter {
  constructor(chat: Chat) {
    super(textAdapter(chat))
  }
}

/** A document that a conversation is written in. */
export interface ChatDocument extends Omit<Chat, "post"> {
  /** Adds Markdown at the end of the document. */
  append(markdown: string): Promise<void> | void
}

/** A Markdown file that a conversation lives in, and who is asked: by default the person at the terminal. */
export interface ChatDocumentFile {
  file: string
  ask?: ApprovalUIAdapter
}

/**
 * Asks inside a document that a conversation is written in. In a document of a host, each card is a block that is answered
 * by lines below it. In a file, each card is a section at its place, with how it was answered; the answer itself comes from
 * the terminal or from `ask`, because whatever stands in a file may have been written by anybody.
 */
export class ChatInDocUIAdapter implements ApprovalUIAdapter {
  readonly #adapter: ApprovalUIAdapter

  constructor(document: ChatDocument | ChatDocumentFile) {
    this.#adapter =
      "file" in document
        ? inFile(new DocumentFile(document.file), document.ask ?? new DefaultUIAdapter())
        : new CoreUIAdapter(
            textAdapter({ ...document, post: (card) => document.append(`\n\`\`\`text\n${card}\n\`\`\`\n`) }),
          )
  }

  showToolExecutionApproval(
    ...asked: Parameters<ApprovalUIAdapter["showToolExecutionApproval"]>
  ): Promise<ExecutionDecision> {
    return this.#adapter.showToolExecutionApproval(...asked)
  }

  showToolResultApproval(...asked: Parameters<ApprovalUIAdapter["showToolResultApproval"]>): Promise<ResultDecision> {
    return this.#adapter.showToolResultApproval(...asked)
  }
}

/** Shows in the file what is asked, and then what was answered. */
function inFile(file: DocumentFile, ask: ApprovalUIAdapter): ApprovalUIAdapter {
  const shown = async <T extends { approved: boolean; rejectReason?: string; by?: string }>(
    what: string,
    value: unknown,
    answer: () => Promise<T>,
  ): Promise<T> => {
    const key = newId()
    const text = `${what}\n\n${JSON.stringify(value, null, 2) ?? ""}`.trimEnd()
    await file.set(key, `Waits for a person. ${text}`)
    try {
      const decision = await answer()
      const { approved, by = "a person", rejectReason } = decision
      await file.set(
        key,
        `${approved ? "Approved" : "Rejected"} by ${by}${rejectReason ? `: ${rejectReason}` : "."} ${text}`,
      )
      return decision
    } catch (error) {
      await file.set(key, `Nobody could be asked. ${text}`)
      throw error
    }
  }
  return {
    showToolExecutionApproval: (...asked) =>
      shown(`${asked[0]} (${asked[3]}): ${asked[1]}`, asked[2], () => ask.showToolExecutionApproval(...asked)),
    showToolResultApproval: (...asked) =>
      shown(`The result of ${asked[0]}:`, asked[2].data, () => ask.showToolResultApproval(...asked)),
  }
}
