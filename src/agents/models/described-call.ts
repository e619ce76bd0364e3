/** Forms of calls as models write them that a server should have recognised and did not. */
const tags =
  /<tool_call>|<\|tool_call|<function=|<function_calls?>|<invoke name=|<tool_use>|\[TOOL_CALLS\]|```tool_(?:call|code)/

/** Reports whether a text holds a call instead of making it. Without tools it never does. */
export function describesCall(text: string, tools: readonly string[]): boolean {
  if (tools.length === 0) return false
  return tags.test(withoutInlineCode(text)) || isCallAsJson(text, tools)
}

/** A text that quotes how calls are written, such as `<invoke name=`, makes none. */
function withoutInlineCode(text: string): string {
  return text.replace(/(?<!`)`[^`\n]+`(?!`)/g, "")
}

/** A whole text such as `{"name": "a_tool", "arguments": {…}}`, in a code block or not. */
function isCallAsJson(text: string, tools: readonly string[]): boolean {
  const bare = text
    .trim()
    .replace(/^```\w*\s*|\s*```$/g, "")
    .trim()
  if (!bare.startsWith("{") || !bare.endsWith("}")) return false
  try {
    const value = JSON.parse(bare) as Record<string, unknown>
    const name = value["name"] ?? value["tool"] ?? value["function"]
    return typeof name === "string" && tools.includes(name)
  } catch {
    return false
  }
}
