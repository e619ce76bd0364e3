// Not run: `tsc -p examples/loops` sees that what we return fits the types of each library.
import Anthropic from "@anthropic-ai/sdk"
import { Agent } from "@openai/agents"
import { generateText, stepCountIs, type LanguageModel } from "ai"
import { createAgent, tool, ToolMessage } from "langchain"
import OpenAI from "openai"
import type { Quartermaster } from "quartermaster"
import * as aiSdk from "quartermaster/ai-sdk"
import * as anthropic from "quartermaster/anthropic"
import * as langchain from "quartermaster/langchain"
import * as openai from "quartermaster/openai"
import * as openaiAgents from "quartermaster/openai-agents"

export async function aiSdkLoop(app: Quartermaster, model: LanguageModel): Promise<string> {
  const tools = aiSdk.governedTools(app, "dev", { sessionId: "chat-1" })
  return (await generateText({ model, tools, stopWhen: stepCountIs(10), prompt: "Hello" })).text
}

export async function openaiLoop(app: Quartermaster, client: OpenAI): Promise<void> {
  const tools = openai.governedTools(app, "dev")
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Hello" }]
  const completion = await client.chat.completions.create({ model: "gpt", messages, tools })
  const { message } = completion.choices[0]!
  messages.push(message, ...(await openai.runToolCalls(app, "dev", message)))
  messages.push(...(await openai.runToolCalls(app, "dev", message, { images: true })))

  const responseTools = app.toolsFor("dev", { format: "openai-responses" })
  const response = await client.responses.create({ model: "gpt", input: "Hello", tools: responseTools })
  const input = await openai.runToolCalls(app, "dev", response)
  await client.responses.create({ model: "gpt", previous_response_id: response.id, input })
}

export async function anthropicLoop(app: Quartermaster, client: Anthropic): Promise<void> {
  const tools = anthropic.governedTools(app, "dev")
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Hello" }]
  const message = await client.messages.create({ model: "claude", max_tokens: 1000, messages, tools })
  messages.push({ role: "assistant", content: message.content }, ...(await anthropic.runToolCalls(app, "dev", message)))
}

export async function anthropicToolRunner(app: Quartermaster, client: Anthropic): Promise<void> {
  const tools = anthropic.runnableTools(app, "dev")
  const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: "user", content: "Hello" }]
  await client.beta.messages.toolRunner({ model: "claude", max_tokens: 1000, messages, tools })
}

export function langchainLoop(app: Quartermaster) {
  return createAgent({ model: "openai:gpt", tools: langchain.governedTools(app, "dev", { tool, ToolMessage }) })
}

export function openaiAgentsLoop(app: Quartermaster): Agent {
  return new Agent({ name: "Dev", tools: openaiAgents.governedTools(app, "dev") })
}
