export * from "../../../dist/loops/openai-agents.js"
