export * from "../../../dist/openai.js"
