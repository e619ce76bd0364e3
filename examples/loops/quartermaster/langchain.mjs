export * from "../../../dist/langchain.js"
