export * from "../../../dist/openai-agents.js"
