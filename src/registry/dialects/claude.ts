import { z } from "zod"
import type { AliasSpec } from "./dialect.ts"
import { claudeFiles } from "./claude-files.ts"
import { defineAlias, requiredParameterValue, failIf, withoutUndefined } from "./define-alias.ts"

const text = z.string()

/** The longest a command may run, in seconds. */
const longestSeconds = 590
/** From here on a time-out cannot be meant in seconds. */
const leastMilliseconds = 10_000

/** The names, parameters and results of design S2, with the spellings that Claude's models are used to beside them. */
export const claudeDialect = (): AliasSpec[] => (known ??= [...claudeFiles(), ...commands(), ...others()])

/** Built once per process. */
let known: AliasSpec[] | undefined

const commands = (): AliasSpec[] => [
  defineAlias({
    name: "Bash",
    dialect: "claude",
    tool: "run_command",
    description: "Run a command in bash, in the workspace.",
    input: () =>
      z.object({
        command: text.min(1).describe("A script for bash"),
        working_dir: text.min(1).optional().describe("The folder to run in"),
        timeout: z
          .number()
          .positive()
          .optional()
          .describe(
            `Seconds, ${longestSeconds} at most; a number from ${leastMilliseconds} on is taken for milliseconds`,
          ),
        env: z.record(text, text).optional().describe("Variables to set for it"),
        run_in_background: z.boolean().optional().describe("Return at once; read on with BashOutput"),
        network: z.boolean().optional().describe("Whether it must reach the network. A person is asked first"),
        require_confirmation: z.boolean().optional().describe("True asks a person in any case"),
        description: text.optional().describe("What it does, for who reads along"),
      }),
    output: () =>
      z.object({
        exit_code: z.number().nullable(),
        stdout: text,
        stderr: text,
        duration: z.number().describe("Seconds"),
        shell_id: text.optional(),
        status: text.optional(),
      }),
    toInput: ({ command, working_dir, timeout, env, run_in_background, network, require_confirmation }) =>
      withoutUndefined({
        command,
        cwd: working_dir,
        timeoutMs: timeout && millisecondsOf(timeout),
        env,
        background: run_in_background,
        network,
        requireConfirmation: require_confirmation,
      }),
    toResult: ({ exitCode, stdout, stderr, durationMs, id, status }: Record<string, unknown>) =>
      withoutUndefined({
        exit_code: exitCode,
        stdout,
        stderr,
        duration: Number(durationMs) / 1000,
        shell_id: id,
        status,
      }),
    names: { timeoutMs: "timeout (in seconds)", background: "run_in_background" },
  }),
  defineAlias({
    name: "BashOutput",
    dialect: "claude",
    tool: "command_output",
    description: "Get what a background command has printed since it was last asked.",
    input: () =>
      z.object({
        bash_id: text.min(1).optional().describe("What Bash returned as shell_id"),
        shell_id: text.min(1).optional().describe("The same as bash_id"),
      }),
    output: () => z.object({ stdout: text, stderr: text, status: text, exit_code: z.number().nullable() }),
    toInput: ({ bash_id, shell_id }) => ({ id: requiredParameterValue({ bash_id, shell_id }) }),
    toResult: ({ stdout, stderr, status, exitCode }: Record<string, unknown>) => ({
      stdout,
      stderr,
      status,
      exit_code: exitCode,
    }),
  }),
  defineAlias({
    name: "KillBash",
    dialect: "claude",
    tool: "command_stop",
    description: "End a background command and everything it started.",
    input: () =>
      z.object({
        shell_id: text.min(1).optional().describe("What Bash returned as shell_id"),
        bash_id: text.min(1).optional().describe("The same as shell_id"),
      }),
    output: () => z.object({ shell_id: text, status: text, exit_code: z.number().nullable() }),
    toInput: ({ bash_id, shell_id }) => ({ id: requiredParameterValue({ shell_id, bash_id }) }),
    toResult: ({ id, status, exitCode }: Record<string, unknown>) => ({ shell_id: id, status, exit_code: exitCode }),
  }),
]

function millisecondsOf(timeout: number): number {
  const milliseconds = timeout < leastMilliseconds ? timeout * 1000 : timeout
  return Math.ceil(Math.min(milliseconds, longestSeconds * 1000))
}

const domains = z.array(text.regex(/^[a-z0-9.-]+$/i, "is no domain; write it like example.com")).max(20)
const todoStatus = z.enum(["pending", "in_progress", "completed"])

const others = (): AliasSpec[] => [
  defineAlias({
    name: "WebFetch",
    dialect: "claude",
    tool: "web_fetch",
    description: "Read a page of the web as Markdown. A redirect to another host is told, not followed.",
    input: () =>
      z.object({
        url: text.min(1).describe("The address"),
        prompt: text.optional().describe("What you want to know; the whole page is returned all the same"),
      }),
    output: () => z.object({ url: text, title: text.optional(), content: text, redirect: text.optional() }),
    toInput: ({ url }) => ({ url }),
    toResult: ({ url, title, content, redirect }: Record<string, unknown>) =>
      withoutUndefined({ url, title, content, redirect }),
  }),
  defineAlias({
    name: "WebSearch",
    dialect: "claude",
    tool: "web_search",
    description: "Search the web.",
    input: () =>
      z.object({
        query: text.min(1).describe("What to search for"),
        max_results: z.int().min(1).max(20).optional().describe("How many to return"),
        allowed_domains: domains.optional().describe("Only results from these"),
        blocked_domains: domains.optional().describe("No results from these"),
      }),
    output: () => z.object({ results: z.array(z.object({ title: text, url: text, snippet: text })) }),
    toInput: ({ query, max_results, allowed_domains, blocked_domains }) => {
      const isBoth = allowed_domains !== undefined && blocked_domains !== undefined
      failIf(isBoth, "'blocked_domains' cannot stand together with allowed_domains.")
      return withoutUndefined({
        query,
        maxResults: max_results,
        allowedDomains: allowed_domains,
        blockedDomains: blocked_domains,
      })
    },
    toResult: ({ results }: Record<string, unknown>) => ({ results }),
  }),
  defineAlias({
    name: "AskUser",
    dialect: "claude",
    tool: "ask_user",
    description: "Ask the user a question, with options to choose from or free text.",
    input: () =>
      z.object({
        question: text.min(1).describe("The question"),
        options: z.array(text.min(1)).optional().describe("Answers to choose from"),
        multiple: z.boolean().optional().describe("Several may be chosen"),
      }),
    output: () => z.object({ question: text, answer: z.union([text, z.array(text)]) }),
    toInput: withoutUndefined,
  }),
  defineAlias({
    name: "TodoWrite",
    dialect: "claude",
    tool: "todo_write",
    description: "Keep the task list: one operation on one todo, or the whole list anew with todos.",
    input: () =>
      z.object({
        operation: z.enum(["create", "update", "delete", "list"]).optional().describe("Left out with todos"),
        id: text.min(1).optional().describe("Which one to update or delete"),
        todo: z
          .record(text, z.unknown())
          .optional()
          .describe("title, description, priority, status, assignee, deadline, tags"),
        todos: z
          .array(
            z.object({
              content: text.trim().min(1).max(2000),
              status: todoStatus,
              activeForm: text.optional(),
              priority: z.enum(["low", "medium", "high", "urgent"]).optional(),
              id: text.optional(),
            }),
          )
          .optional()
          .describe("The whole list, in order"),
      }),
    output: () =>
      z.object({
        todo: z.unknown().optional(),
        todos: z.array(z.unknown()).optional(),
        before: z.array(z.unknown()).optional(),
      }),
    toInput: ({ operation, id, todo, todos }) =>
      todos === undefined
        ? withoutUndefined({ operation: operation ?? "list", id, todo })
        : {
            operation: "replace",
            todos: todos.map(({ content, id: _theirs, ...rest }) => ({ title: content, ...rest })),
          },
    toResult: ({ todo, todos, before }: Record<string, unknown>) => withoutUndefined({ todo, todos, before }),
  }),
]
