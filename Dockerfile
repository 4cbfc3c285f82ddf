# docker build -t rspverify .
# docker run --rm -v "$PWD:/work" rspverify check mine.yaml litmus --expect expected.yaml
# docker run --rm -p 127.0.0.1:8470:8470 rspverify serve --host 0.0.0.0 --public   (docs/browser.md)
FROM python:3.11-slim
COPY pyproject.toml README.md LICENSE /src/
COPY schemes /src/schemes
COPY litmus /src/litmus
COPY rspverify /src/rspverify
RUN pip install --no-cache-dir '/src[web]' && rm -rf /src
ENV RSPVERIFY_CACHE=/tmp/rspverify
WORKDIR /work
ENTRYPOINT ["rspverify"]
