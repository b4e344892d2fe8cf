# The server, or any other command: docs/guides/container.md. Everything it keeps is in /data.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/answerable \
    && /opt/answerable/bin/pip install --no-cache-dir --constraint constraints.txt '.[server,mcp,postgres,qdrant,openai,cohere]'

FROM python:3.12-slim
COPY --from=build /opt/answerable /opt/answerable
RUN useradd --uid 1000 --create-home answerable && mkdir /data && chown answerable /data
ENV PATH=/opt/answerable/bin:$PATH \
    ANSWERABLE_LIBRARY=/data/library \
    ANSWERABLE_CACHE_FOLDER=/data/cache \
    XDG_CONFIG_HOME=/data/config
USER answerable
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=5 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["answerable"]
CMD ["serve", "--host", "0.0.0.0", "--keys", "/data/keys.json", "--data", "/data/server"]
