# The agent of compose.yaml. Built from the top of the repository.
FROM python:3.12.11-slim
RUN pip install --no-cache-dir "opentelemetry-sdk==1.38.0" "opentelemetry-exporter-otlp-proto-http==1.38.0"
COPY docker/agent.py /agent.py
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 65532:65532
ENTRYPOINT ["python", "/agent.py"]
