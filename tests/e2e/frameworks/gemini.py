"""The Gemini API of the scripted model: `generateContent`."""

import uuid


def conversation(request):
    """The last user message, and the (name, text) of the tool results after it."""
    said, results = "", []
    for content in request["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                answer = part["functionResponse"]
                results.append((answer["name"], str(answer["response"])))
            elif "text" in part and content.get("role") == "user":
                said, results = part["text"], []
    return said, results


def response(step):
    parts = [
        {"functionCall": {"id": f"call_{uuid.uuid4().hex[:12]}", "name": name, "args": arguments}}
        for name, arguments in step.calls
    ] or [{"text": step.text}]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "scripted",
    }
