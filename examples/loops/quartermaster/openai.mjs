export * from "../../../dist/loops/openai.js"
