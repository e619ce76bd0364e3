// The names of design S2. Every name is listed by hand.
export { ToolCategory } from "../model/tool.ts"
