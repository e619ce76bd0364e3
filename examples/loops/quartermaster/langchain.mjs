export * from "../../../dist/loops/langchain.js"
