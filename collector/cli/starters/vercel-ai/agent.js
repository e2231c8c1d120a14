// A support agent on the Vercel AI SDK. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional.

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { cancelOrder, deleteAccount, getOrder, refundOrder } from "./orders.js";
import { serve } from "./service.js";

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const model = openai.chat(process.env.OPENAI_MODEL ?? "gpt-5-mini");
const order_id = z.string().describe("The number of the order");
const tools = {
  get_order: tool({
    description: "Look an order up.",
    inputSchema: z.object({ order_id }),
    execute: ({ order_id }) => getOrder(order_id),
  }),
  cancel_order: tool({
    description: "Cancel an order.",
    inputSchema: z.object({ order_id }),
    execute: ({ order_id }) => cancelOrder(order_id),
  }),
  refund_order: tool({
    description: "Pay money back for an order.",
    inputSchema: z.object({ order_id, amount: z.number().describe("How much, in euros") }),
    execute: ({ order_id, amount }) => refundOrder(order_id, amount),
  }),
  delete_account: tool({
    description: "Delete the customer's account for good.",
    inputSchema: z.object({}),
    needsApproval: true,
    execute: () => deleteAccount(),
  }),
};

// Spans are made only if this is on. They carry arguments and results, unless recordInputs and recordOutputs are false.
const content = process.env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toUpperCase() !== "NO_CONTENT";
const telemetry = (session) => ({
  isEnabled: true,
  functionId: "support",
  metadata: { sessionId: session },
  recordInputs: content,
  recordOutputs: content,
});

const conversations = new Map();
const waiting = new Map();

async function answer(message, session) {
  const messages = conversations.get(session) ?? [];
  conversations.set(session, messages);
  if (waiting.has(session)) {
    const approved = ["y", "yes"].includes(message.trim().toLowerCase());
    const responses = waiting
      .get(session)
      .map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved }));
    messages.push({ role: "tool", content: responses });
    waiting.delete(session);
  } else {
    messages.push({ role: "user", content: message });
  }
  const result = await generateText({
    model,
    tools,
    system: "Help customers with their orders. Say it when something failed.",
    messages,
    stopWhen: stepCountIs(8),
    experimental_telemetry: telemetry(session),
  });
  messages.push(...result.response.messages);
  const requests = result.content.filter((part) => part.type === "tool-approval-request");
  if (requests.length === 0) return result.text;
  waiting.set(session, requests);
  const names = requests.map(({ toolCall }) => toolCall.toolName).join(", ");
  return `I need your confirmation for: ${names}. Shall I go on, yes or no?`;
}

serve(answer);
